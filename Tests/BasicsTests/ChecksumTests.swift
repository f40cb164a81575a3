import Basics
import Testing

@Suite struct ChecksumTests {
    /// The check value of both polynomials, and the vectors of RFC 3720, B.4.
    @Test(
        arguments: [
            ([], 0), (Array("123456789".utf8), 0xe306_9283),
            ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
            ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
            (Array(0...31), 0x46dd_794e), (Array((0...31).reversed()), 0x113f_db5c),
        ] as [([UInt8], UInt32)]
    )
    func crc32c(bytes: [UInt8], expected: UInt32) {
        #expect(Checksum.crc32c(bytes) == expected)
    }

    @Test(
        arguments: [
            ("", 0), ("a", 0xe8b7_be43), ("123456789", 0xcbf4_3926),
            ("The quick brown fox jumps over the lazy dog", 0x414f_a339),
        ] as [(String, UInt32)]
    )
    func crc32(text: String, expected: UInt32) {
        #expect(Checksum.crc32(text) == expected)
    }

    @Test func goesOnFromAnywhere() {
        var random = Seeded(2)
        let bytes = (0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }
        let whole = Checksum.crc32c(bytes)
        for cut in 0...bytes.count {
            let split = bytes.withUnsafeBytes { raw in
                let head = UnsafeRawBufferPointer(rebasing: raw[..<cut])
                let tail = UnsafeRawBufferPointer(rebasing: raw[cut...])
                return Checksum.crc32c(tail, from: Checksum.crc32c(head))
            }
            #expect(split == whole, "cut at \(cut)")
        }
    }

    @Test func processorAndTablesAgree() {
        var random = Seeded(3)
        for count in (0...200) + [4096, 65_537] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let start = UInt32.random(in: 0 ... .max, using: &random)
            bytes.withUnsafeBytes { raw in
                // From any place in memory.
                for skip in 0..<min(8, count) {
                    let part = UnsafeRawBufferPointer(rebasing: raw[skip...])
                    let quick = Checksum.crc32c(part, from: start)
                    #expect(quick == Checksum.crc32cByTable(part, from: start), "\(count), \(skip)")
                }
            }
        }
    }

    @Test func seesEveryFlippedBit() {
        var bytes = Array("a batch of the hot tier".utf8)
        let whole = Checksum.crc32c(bytes)
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(Checksum.crc32c(bytes) != whole, "bit \(bit)")
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
    }
}
