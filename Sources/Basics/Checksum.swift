internal import CProcessor

/// CRC-32 and CRC-32C: by tables, eight bytes a step; CRC-32C by the processor where it can.
///
/// CRC-32 (polynomial 0xEDB88320, as in zlib and PNG) makes the fingerprints of peers;
/// CRC-32C (Castagnoli, 0x82F63B78, as in iSCSI, RFC 3720 B.4) guards transfers and batches.
public enum Checksum {
    /// CRC-32 of `bytes`; `"123456789"` gives 0xCBF43926.
    public static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        ieee.update(0, bytes)
    }

    /// CRC-32 of a text's UTF-8 bytes.
    public static func crc32(_ text: String) -> UInt32 {
        var copy = text
        return copy.withUTF8 { crc32(UnsafeRawBufferPointer($0)) }
    }

    /// CRC-32C of `bytes`, going on from `previous`; `"123456789"` gives 0xE3069283.
    public static func crc32c(_ bytes: UnsafeRawBufferPointer, from previous: UInt32 = 0) -> UInt32
    {
        guard hasInstruction else { return castagnoli.update(previous, bytes) }
        return cprocessor_crc32c(previous, bytes.baseAddress, bytes.count)
    }

    /// CRC-32C as processors without the instruction make it.
    package static func crc32cByTable(_ bytes: UnsafeRawBufferPointer, from previous: UInt32 = 0)
        -> UInt32
    {
        castagnoli.update(previous, bytes)
    }

    /// CRC-32C of an array.
    public static func crc32c(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { crc32c($0) }
    }

    private static let hasInstruction = cprocessor_has_crc32c() != 0
    private static let ieee = Table(polynomial: 0xEDB8_8320)
    private static let castagnoli = Table(polynomial: 0x82F6_3B78)

    /// Eight tables of 256 words: `words[256 * k + b]` is byte `b`'s effect, `k` bytes earlier.
    private struct Table: Sendable {
        let words: [UInt32]

        init(polynomial: UInt32) {
            var words = [UInt32](repeating: 0, count: 2048)
            for byte in 0..<256 {
                var value = UInt32(byte)
                for _ in 0..<8 { value = (value >> 1) ^ (value & 1 == 1 ? polynomial : 0) }
                words[byte] = value
            }
            for index in 256..<2048 {
                let before = words[index - 256]
                words[index] = (before >> 8) ^ words[Int(before & 0xff)]
            }
            self.words = words
        }

        func update(_ previous: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
            var crc = ~previous
            var offset = 0
            words.withUnsafeBufferPointer { table in
                while offset + 8 <= bytes.count {
                    let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    let mixed = UInt64(littleEndian: word) ^ UInt64(crc)
                    crc = 0
                    for lane in 0..<8 {
                        let byte = Int(truncatingIfNeeded: mixed >> UInt64(8 * lane)) & 0xff
                        crc ^= table[256 * (7 - lane) + byte]
                    }
                    offset += 8
                }
                while offset < bytes.count {
                    crc = (crc >> 8) ^ table[Int((crc ^ UInt32(bytes[offset])) & 0xff)]
                    offset += 1
                }
            }
            return ~crc
        }
    }
}
