/// XXH64 (Yann Collet's xxHash, 64 bits, seed 0): a checksum at the speed of memory, no signature.
///
/// The empty text gives 0xEF46DB3751D8E999.
public enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of `bytes`.
    public static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var offset = 0
        var hash = prime5
        if bytes.count >= 32 { hash = stripes(bytes, &offset) }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash ^= round(0, word(bytes, offset))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            hash ^= UInt64(UInt32(littleEndian: half)) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash ^= UInt64(bytes[offset]) &* prime5
            hash = rotate(hash, 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    /// Whole stripes of 32 bytes, four lanes side by side.
    private static func stripes(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt64 {
        var (first, second) = (prime1 &+ prime2, prime2)
        var (third, fourth) = (UInt64(0), 0 &- prime1)
        while offset + 32 <= bytes.count {
            first = round(first, word(bytes, offset))
            second = round(second, word(bytes, offset + 8))
            third = round(third, word(bytes, offset + 16))
            fourth = round(fourth, word(bytes, offset + 24))
            offset += 32
        }
        var hash = rotate(first, 1) &+ rotate(second, 7)
        hash = hash &+ rotate(third, 12) &+ rotate(fourth, 18)
        hash = merge(merge(merge(merge(hash, first), second), third), fourth)
        return hash
    }

    @inline(__always)
    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value << bits | value >> (64 - bits)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
