import Basics
import Testing

@Suite struct UTF8TextTests {
    private func firstInvalid(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { UTF8Text.firstInvalid($0) }
    }

    @Test(arguments: [
        "", "a", "\u{0}", "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}",
        "\u{ffff}", "\u{10000}", "\u{fffff}", "\u{10ffff}", "12345678ü1234567😀",
    ])
    func acceptsWellFormed(text: String) {
        #expect(firstInvalid(Array(text.utf8)) == nil)
    }

    /// One row for each way to be ill-formed (Unicode, table 3-7).
    @Test(
        arguments: [
            [0x80], [0xbf],  // a tail alone
            [0xc0, 0x80], [0xc1, 0xbf],  // overlong, two bytes
            [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf],  // overlong, three
            [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],  // overlong, four
            [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],  // surrogates
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],  // above 10FFFF
            [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe], [0xff],  // no such first byte
            [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98],  // cut off
            [0xc3, 0x28], [0xe2, 0x28, 0xa1], [0xe2, 0x82, 0x28],  // no tail
            [0xf0, 0x28, 0x8c, 0xbc], [0xf0, 0x90, 0x28, 0xbc], [0xf0, 0x90, 0x8c, 0x28],
        ] as [[UInt8]]
    )
    func refusesIllFormed(bytes: [UInt8]) {
        #expect(firstInvalid(bytes) == 0)
        for before in 0..<17 {
            let plain = [UInt8](repeating: UInt8(ascii: "x"), count: before)
            #expect(firstInvalid(plain + bytes) == before)
            #expect(firstInvalid(plain + bytes + Array("12345678".utf8)) == before)
        }
        #expect(fault([0x22] + bytes + [0x22])?.reason == .invalidUTF8)
    }

    /// The same verdict as the standard library's on all pairs and on many longer runs.
    @Test func agreesWithTheStandardLibrary() {
        func agrees(_ bytes: [UInt8]) -> Bool {
            (firstInvalid(bytes) == nil) == (String(validating: bytes, as: UTF8.self) != nil)
        }
        for first in 0...255 as ClosedRange<UInt8> {
            for second in 0...255 as ClosedRange<UInt8> where !agrees([first, second]) {
                Issue.record("\(first) \(second)")
            }
        }
        var random = Seeded(4)
        let firsts: [UInt8] = [0x61, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5]
        let tails: [UInt8] = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
        for _ in 0..<20_000 {
            var bytes = [firsts.randomElement(using: &random) ?? 0]
            for _ in 0..<3 { bytes.append(tails.randomElement(using: &random) ?? 0) }
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            if !agrees(bytes) { Issue.record("\(bytes)") }
        }
    }
}
