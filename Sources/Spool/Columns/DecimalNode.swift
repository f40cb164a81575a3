/// A column of decimals as the directory describes it; `DecimalColumn` says how it was made.
struct DecimalNode {
    private let aligned: Int?
    private let mantissas: IntegerNode
    private let places: IntegerNode

    init(_ reader: inout LaneReader, count: Int) throws(DamagedBatch) {
        let form = try reader.byte()
        aligned = form == 0xff ? nil : Int(form)
        guard form == 0xff || form <= NumberText.placesMax else {
            throw DamagedBatch(reason: "a form of decimals is not known")
        }
        mantissas = try IntegerNode(&reader, count: count, lane: .numbers)
        places = try IntegerNode(&reader, count: count, lane: .ids)
    }

    /// Writes the texts into memory of the arena.
    func decode(_ arena: Arena, into out: UnsafeMutablePointer<Piece>) throws(DamagedBatch) {
        let count = mantissas.count
        let values = try arena.allocate(Int64.self, count)
        mantissas.decode(into: values)
        let places = try places.decodeIDs(arena, limit: NumberText.placesMax + 1)
        if let aligned { try shorten(values, places, count, aligned) }
        var total = 0
        for index in 0..<count { total += Self.length(values[index], Int(places[index])) }
        var at = try arena.allocate(UInt8.self, total)
        for index in 0..<count {
            let length = Self.write(values[index], Int(places[index]), to: at)
            (out + index).initialize(to: Piece(start: at, count: length))
            at += length
        }
    }

    /// Takes away the zeros that brought all to the same number of places.
    private func shorten(
        _ values: UnsafeMutablePointer<Int64>,
        _ places: UnsafePointer<Int64>,
        _ count: Int,
        _ most: Int
    ) throws(DamagedBatch) {
        for index in 0..<count {
            let more = most - Int(places[index])
            guard more >= 0, more <= NumberText.digitsMax else {
                throw DamagedBatch(reason: "places make no sense")
            }
            if more > 0 { values[index] /= NumberText.powers[more] }
        }
    }

    private static func length(_ value: Int64, _ places: Int) -> Int {
        let digits = max(NumberPrinter.digits(value.magnitude), places + 1)
        return digits + (places > 0 ? 1 : 0) + (value < 0 ? 1 : 0)
    }

    private static func write(
        _ value: Int64,
        _ places: Int,
        to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        if places == 0 { return NumberPrinter.write(value, to: out) }
        let length = length(value, places)
        var at = out
        if value < 0 {
            at[0] = UInt8(ascii: "-")
            at += 1
        }
        var rest = value.magnitude
        let whole = length - (at - out) - places - 1
        NumberPrinter.writeDigits(&rest, places, to: at + whole + 1)
        at[whole] = UInt8(ascii: ".")
        NumberPrinter.writeDigits(&rest, whole, to: at)
        return length
    }
}
