/// Walks over a short text byte by byte; for times and spans.
struct TextScanner {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    /// True if nothing is left.
    var isAtEnd: Bool { offset == bytes.count }

    /// What is left.
    var rest: String { String(decoding: bytes[offset...], as: UTF8.self) }

    /// The next byte, which is not stepped over.
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Steps over `character` if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == character.value else { return false }
        offset += 1
        return true
    }

    /// Steps over the next byte, whatever it is.
    mutating func skip() {
        offset = min(offset + 1, bytes.count)
    }

    /// Steps over blanks; true if there was one.
    @discardableResult
    mutating func skipSpaces() -> Bool {
        let start = offset
        while next == 0x20 || next == 0x09 { offset += 1 }
        return offset > start
    }

    /// Steps over letters (and bytes above ASCII, as in `µs`).
    mutating func letters() -> String {
        let start = offset
        while let byte = next, (0x41...0x5a).contains(byte & 0xdf) || byte >= 0x80 { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Steps over one or more digits, `count` of them at the most; nil if there is none, or more
    /// than fit.
    mutating func integer(upTo count: Int = 18) -> (value: Int64, digits: Int)? {
        let start = offset
        var value: Int64 = 0
        while let byte = next, (0x30...0x39).contains(byte) {
            if offset - start == count { return nil }
            value = value * 10 + Int64(byte - 0x30)
            offset += 1
        }
        return offset > start ? (value, offset - start) : nil
    }

    /// Steps over `12`, `1.5` and the like.
    mutating func decimal() -> Decimal? {
        guard let whole = integer() else { return nil }
        guard take(".") else { return Decimal(whole: whole.value, billionths: 0, digits: 0) }
        guard let fraction = fraction() else { return nil }
        return Decimal(whole: whole.value, billionths: fraction.value, digits: fraction.digits)
    }

    /// Steps over digits after a point, as billionths; the tenth and later ones are cut.
    mutating func fraction() -> (value: Int64, digits: Int)? {
        var value: Int64 = 0
        var digits = 0
        while let byte = next, (0x30...0x39).contains(byte) {
            if digits < 9 { value = value * 10 + Int64(byte - 0x30) }
            digits += 1
            offset += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 9)..<9 { value *= 10 }
        return (value, digits)
    }
}
