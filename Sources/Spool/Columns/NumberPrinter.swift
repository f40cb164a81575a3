/// Writes numbers as decimal text.
enum NumberPrinter {
    /// Most bytes that `write` writes.
    static let bytesMax = 20

    /// Writes a number and returns its length; `out` has room for `bytesMax`.
    @inline(__always)
    static func write(_ value: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        if value >= 0, value < 10 {
            out[0] = UInt8(truncatingIfNeeded: value) + 0x30
            return 1
        }
        var at = out
        var rest = value.magnitude
        if value < 0 {
            at[0] = UInt8(ascii: "-")
            at += 1
        }
        let count = digits(rest)
        writeDigits(&rest, count, to: at)
        return at - out + count
    }

    /// Takes the last `count` digits off a number and writes them, leading zeros too.
    @inline(__always)
    static func writeDigits(
        _ rest: inout UInt64,
        _ count: Int,
        to out: UnsafeMutablePointer<UInt8>
    ) {
        var index = count
        while index >= 2 {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 100)
            rest = quotient
            let tens = (remainder &* 103) >> 10
            index -= 2
            out[index] = UInt8(truncatingIfNeeded: tens) &+ 0x30
            out[index + 1] = UInt8(truncatingIfNeeded: remainder &- tens &* 10) &+ 0x30
        }
        if index == 1 {
            out[0] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
            rest /= 10
        }
    }

    /// Decimal digits of a number.
    @inline(__always)
    static func digits(_ value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10000 {
            rest /= 10000
            count += 4
        }
        return count + (rest >= 1000 ? 3 : rest >= 100 ? 2 : rest >= 10 ? 1 : 0)
    }

    /// Writes a whole column into memory of the arena.
    static func writeAll(
        _ node: IntegerNode,
        _ arena: Arena,
        into out: UnsafeMutablePointer<Piece>
    ) throws(DamagedBatch) {
        let values = try node.decode(arena)
        var total = 0
        for index in 0..<node.count {
            total += digits(values[index].magnitude) + (values[index] < 0 ? 1 : 0)
        }
        var at = try arena.allocate(UInt8.self, total)
        for index in 0..<node.count {
            let length = write(values[index], to: at)
            (out + index).initialize(to: Piece(start: at, count: length))
            at += length
        }
    }
}
