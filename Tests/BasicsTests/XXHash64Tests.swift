import Basics
import Testing

/// XXH64 against known values, and the frame checksum of zstd, which is its lower half.
@Suite struct XXHash64Tests {
    @Test(
        arguments: [
            ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b),
            ("abc", 0x44bc_2cf5_ad77_0999),
        ] as [(String, UInt64)]
    )
    func known(text: String, hash: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { XXHash64.hash($0) } == hash)
    }

    /// Below 64 bytes and above 32: stripes, words and a half word.
    @Test func asZstdHasIt() {
        let text = Array(String(repeating: "abc", count: 20).utf8)
        let hash = text.withUnsafeBytes { XXHash64.hash($0) }
        #expect(UInt32(truncatingIfNeeded: hash) == 0x2f20_4b38)
    }
}
