import Basics
import Testing

@Suite struct BytePatternTests {
    private let common = Array(" eta\"".utf8)

    /// The slow and obvious search.
    private func find(_ needle: [UInt8], _ text: ArraySlice<UInt8>, ignoresCase: Bool) -> Int? {
        func fold(_ byte: UInt8) -> UInt8 {
            ignoresCase && (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
        }
        guard text.count >= needle.count else { return nil }
        return (text.startIndex...(text.endIndex - needle.count)).first { at in
            needle.indices.allSatisfy { fold(text[at + $0]) == needle[$0] }
        }
    }

    /// Texts of few letters, so that there are many near misses, of every length around the blocks
    /// of 16 and 64, at every place in memory.
    @Test(arguments: [true, false]) func findsWhatTheSlowSearchFinds(_ ignoresCase: Bool) {
        var random = Seeded(ignoresCase ? 4 : 5)
        let letters = Array("abAB@`[{1\\\u{0}".utf8)
        for round in 0..<4000 {
            let text = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? 0
            }
            let count = Int.random(in: 0...6, using: &random)
            let needle = (0..<count).map { _ in
                let byte = letters.randomElement(using: &random) ?? 0
                return ignoresCase && (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
            }
            let pattern = BytePattern(needle, ignoresCase: ignoresCase, common: common)
            let start = Int.random(in: 0...text.count, using: &random)
            let expected = find(needle, text[start...], ignoresCase: ignoresCase)
            let found = text.withUnsafeBytes { pattern.firstIndex(in: $0, from: start) }
            #expect(found == expected, "round \(round): \(needle) in \(text) from \(start)")
        }
    }

    /// Where the haystack ends the memory ends: what lies behind is never read as part of it.
    @Test func doesNotLookBehindTheEnd() {
        let pattern = BytePattern(Array("end".utf8), ignoresCase: true, common: common)
        let text = Array((String(repeating: ".", count: 150) + "END").utf8)
        text.withUnsafeBytes { raw in
            for count in 0...text.count {
                let part = UnsafeRawBufferPointer(rebasing: raw[..<count])
                #expect(pattern.firstIndex(in: part, from: 0) == (count == 153 ? 150 : nil))
            }
            #expect(pattern.firstIndex(in: raw, from: 151) == nil)
            #expect(pattern.firstIndex(in: raw, from: 154) == nil)
            #expect(pattern.firstIndex(in: raw, from: -1) == nil)
        }
    }

    @Test func theEmptyOneIsEverywhere() {
        let pattern = BytePattern([], ignoresCase: false, common: common)
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(pattern.firstIndex(in: nothing, from: 0) == 0)
        #expect(pattern.firstIndex(in: nothing, from: 1) == nil)
    }
}
