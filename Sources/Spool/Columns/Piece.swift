/// A run of bytes that somebody else keeps alive: a value in a payload, an entry of a dictionary.
struct Piece {
    var start: UnsafePointer<UInt8>
    var count: Int

    /// A hash good enough for tables that compare on a hit: eight bytes a step.
    @inline(__always)
    var hash: UInt64 { hash(seed: 0) }

    /// The same from a start that nobody outside knows, where texts may be made to collide.
    @inline(__always)
    func hash(seed: UInt64) -> UInt64 {
        let raw = UnsafeRawPointer(start)
        var state = UInt64(truncatingIfNeeded: count) &* 0x9e37_79b9_7f4a_7c15 ^ seed
        var offset = 0
        while offset + 8 <= count {
            state = Self.mix(state, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        if offset < count {
            var rest: UInt64 = 0
            if count >= 8 {
                rest = raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            } else {
                for index in offset..<count { rest = rest << 8 | UInt64(start[index]) }
            }
            state = Self.mix(state, rest)
        }
        return state ^ (state >> 29)
    }

    /// Takes one more word into a hash.
    @inline(__always)
    static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0xa076_1d64_78bd_642f)
            .multipliedFullWidth(by: 0xe703_7ed1_a0b4_28db)
        return product.low ^ product.high
    }

    /// True if both are the same bytes.
    @inline(__always)
    func isEqual(_ other: Piece) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        let (left, right) = (UnsafeRawPointer(start), UnsafeRawPointer(other.start))
        while offset + 8 <= count {
            if left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            {
                return false
            }
            offset += 8
        }
        while offset < count {
            if start[offset] != other.start[offset] { return false }
            offset += 1
        }
        return true
    }

    /// The same bytes as a buffer.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}
