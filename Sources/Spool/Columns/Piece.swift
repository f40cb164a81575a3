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
            } else if count >= 4 {
                let (first, last) = (
                    raw.loadUnaligned(as: UInt32.self),
                    raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
                )
                rest = UInt64(first) << 32 | UInt64(last)
            } else {
                rest =
                    UInt64(start[0]) << 16 | UInt64(start[count / 2]) << 8
                    | UInt64(start[count - 1])
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
        let (left, right) = (UnsafeRawPointer(start), UnsafeRawPointer(other.start))
        func isSame<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Word.Type) -> Bool
        {
            left.loadUnaligned(fromByteOffset: offset, as: Word.self)
                == right.loadUnaligned(fromByteOffset: offset, as: Word.self)
        }
        var offset = 0
        while offset + 8 <= count {
            if !isSame(offset, UInt64.self) { return false }
            offset += 8
        }
        // What is left by a word that reaches back over what is known to be the same.
        if offset == count { return true }
        if count >= 8 { return isSame(count - 8, UInt64.self) }
        if count >= 4 { return isSame(0, UInt32.self) && isSame(count - 4, UInt32.self) }
        if count >= 2 { return isSame(0, UInt16.self) && isSame(count - 2, UInt16.self) }
        return start[0] == other.start[0]
    }

    /// The same bytes as a buffer.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}
