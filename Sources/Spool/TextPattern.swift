internal import Basics

/// A text that payloads are searched for, as a substring.
///
/// Without a capital letter (ASCII) in it, case does not matter. It is looked for in the payload as
/// it was sent, and, where that has a backslash, in what its strings say as well.
public struct TextPattern: Sendable, Equatable {
    /// The text as it was given.
    public let text: String
    /// True if ASCII letters match in either case.
    public let ignoresCase: Bool
    /// True if it must stand alone: no letter, digit, underscore or byte above 127 beside it.
    public let isWord: Bool
    /// True if a short escape (`\"`, `\n`, ...) can stand for a byte of the pattern.
    let holdsSpecial: Bool
    private let pattern: BytePattern

    /// A pattern; the empty one is in every payload.
    public init(_ text: String, isWord: Bool = false) {
        self.text = text
        self.isWord = isWord
        let bytes = Array(text.utf8)
        holdsSpecial = bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x2f || $0 == 0x5c }
        ignoresCase = !bytes.contains { (0x41...0x5a).contains($0) }
        pattern = BytePattern(bytes, ignoresCase: ignoresCase, common: Self.common)
    }

    /// The text's; in lower case where case does not matter.
    var bytes: [UInt8] { pattern.bytes }

    /// The bytes of JSON texts, the most frequent first.
    private static let common = Array("\" e,t:a0onis1rhl2dc3u4m56p78f9g.wyb_vk-/{}xT".utf8)

    /// Words that a payload with the pattern has as whole ones, in lower case; none where it need
    /// not stand alone.
    var wholeWords: [[UInt8]] {
        guard isWord else { return [] }
        return bytes.split { !WordFilter.isTokenByte($0) }
            .filter { WordFilter.covers($0) }
            .map { $0.map { $0 | 0x20 } }
    }

    /// True if the pattern at `hit` may be one in the text between `start` and `end`.
    func stands(at hit: Int, in text: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Bool {
        guard isWord else { return true }
        let after = hit + bytes.count
        return (hit <= start || !WordFilter.isTokenByte(text[hit - 1]))
            && (after >= end || !WordFilter.isTokenByte(text[after]))
    }

    /// Where the pattern begins in `bytes`, at `start` or after.
    func firstIndex(in haystack: UnsafeRawBufferPointer, from start: Int) -> Int? {
        pattern.firstIndex(in: haystack, from: start)
    }

    /// True if the escape `\uXXXX` at `hit` can stand for a byte of the pattern, or is not whole.
    func mayHold(unicodeAt hit: Int, in text: UnsafeRawBufferPointer) -> Bool {
        guard let code = JSONText.unit(text, at: hit + 2) else { return true }
        if code > 0x7f { return bytes.contains { $0 > 0x7f } }
        let byte = UInt8(code)
        return bytes.contains(ignoresCase && (0x41...0x5a).contains(byte) ? byte | 0x20 : byte)
    }
}
