/// The decimal texts that become numbers, because the number gives back the text to the byte.
enum NumberText {
    /// Digits of a number that fits an Int64 for certain.
    static let digitsMax = 18

    /// The value of a canonical integer: no leading zero, no `-0`, at most 18 digits; else nil.
    @inline(__always)
    static func integer(_ text: Piece) -> Int64? {
        var at = 0
        let isNegative = text.count > 0 && text.start[0] == UInt8(ascii: "-")
        if isNegative { at = 1 }
        let digits = text.count - at
        guard digits > 0, digits <= digitsMax else { return nil }
        if text.start[at] == UInt8(ascii: "0"), digits > 1 || isNegative { return nil }
        var value: Int64 = 0
        while at < text.count {
            let digit = text.start[at] &- 0x30
            if digit > 9 { return nil }
            value = value &* 10 &+ Int64(digit)
            at += 1
        }
        return isNegative ? 0 &- value : value
    }

    /// A number as digits and how many of them stand behind the point.
    struct Decimal {
        var mantissa: Int64
        var places: Int
    }

    /// Mantissa and places of a plain decimal that they give back to the byte; else nil.
    ///
    /// No exponent, no `-0.0`, at most 18 digits from the first that is not zero, at most 40
    /// places.
    static func decimal(_ text: Piece) -> Decimal? {
        var at = 0
        let isNegative = text.count > 0 && text.start[0] == UInt8(ascii: "-")
        if isNegative { at = 1 }
        let first = at
        var value: Int64 = 0
        var digits = 0
        var point = -1
        while at < text.count {
            let byte = text.start[at]
            if byte == UInt8(ascii: "."), point < 0, at > first {
                point = at
            } else {
                let digit = byte &- 0x30
                if digit > 9 { return nil }
                value = value &* 10 &+ Int64(digit)
                if value != 0 { digits += 1 }
                if digits > digitsMax { return nil }
            }
            at += 1
        }
        let whole = (point < 0 ? text.count : point) - first
        guard whole > 0, whole == 1 || text.start[first] != UInt8(ascii: "0") else { return nil }
        let places = point < 0 ? 0 : text.count - point - 1
        if point >= 0, places == 0 { return nil }
        guard places <= placesMax, value != 0 || !isNegative else { return nil }
        return Decimal(mantissa: isNegative ? 0 &- value : value, places: places)
    }

    /// Most digits behind the point.
    static let placesMax = 40

    static let powers: [Int64] = (0...digitsMax).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
