internal import LinuxIO

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
    let bytes: [UInt8]
    /// True if a short escape (`\"`, `\n`, ...) can stand for a byte of the pattern.
    let holdsSpecial: Bool
    /// Place of the byte that is rarest in JSON: the search jumps from one of it to the next.
    private let anchor: Int

    /// A pattern; the empty one is in every payload.
    public init(_ text: String, isWord: Bool = false) {
        self.text = text
        self.isWord = isWord
        bytes = Array(text.utf8)
        holdsSpecial = bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x2f || $0 == 0x5c }
        ignoresCase = !bytes.contains { (0x41...0x5a).contains($0) }
        var best = 0
        var rank = -1
        for (index, byte) in bytes.enumerated() {
            let found = Self.common.firstIndex(of: byte) ?? Self.common.count
            if found > rank {
                rank = found
                best = index
            }
        }
        anchor = best
    }

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

    /// Where the pattern begins in `bytes`, at `start` or after; `bytes` are in lower case where
    /// case does not matter.
    func firstIndex(in haystack: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = haystack.baseAddress, start + bytes.count <= haystack.count else {
            return bytes.isEmpty && start <= haystack.count ? start : nil
        }
        if bytes.isEmpty { return start }
        // The anchor of a hit that still fits lies before this.
        let end = haystack.count - bytes.count + anchor + 1
        let wanted = bytes[anchor]
        return bytes.withUnsafeBytes { (needle) -> Int? in
            guard let wantedBase = needle.baseAddress else { return nil }
            var at = start + anchor
            while at < end,
                let found = MemorySearch.first(wanted, in: base + at, count: end - at)
            {
                let place = found - base
                let hit = place - anchor
                if MemorySearch.isEqual(base + hit, wantedBase, count: needle.count) { return hit }
                at = place + 1
            }
            return nil
        }
    }

    /// Makes `copy` the bytes of `source` with ASCII capitals lowered.
    static func lower(_ source: UnsafeRawBufferPointer, into copy: inout [UInt8]) {
        copy = [UInt8](unsafeUninitializedCapacity: source.count) { room, count in
            lower(source, UnsafeMutableRawBufferPointer(room))
            count = source.count
        }
    }

    /// Writes the bytes of `source` with ASCII capitals lowered to the start of `target`.
    static func lower(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer) {
        guard let from = source.baseAddress, let to = target.baseAddress,
            target.count >= source.count
        else { return }
        for index in 0..<source.count {
            let byte = from.load(fromByteOffset: index, as: UInt8.self)
            let lowered = byte | (byte &- 0x41 < 26 ? 0x20 : 0)
            to.storeBytes(of: lowered, toByteOffset: index, as: UInt8.self)
        }
    }
}
