internal import Basics
internal import LinuxIO

extension TextPattern {
    /// Which of the payloads that lie one after another in `bytes` hold the pattern.
    ///
    /// The whole run is searched at once; a hit from one payload into the next is none.
    func search(_ bytes: UnsafeRawBufferPointer, ends: [Int]) -> [Bool] {
        if self.bytes.isEmpty { return [Bool](repeating: true, count: ends.count) }
        var found = [Bool](repeating: false, count: ends.count)
        mark(bytes, ends, &found)
        searchEscaped(bytes, ends, &found)
        return found
    }

    private func mark(_ bytes: UnsafeRawBufferPointer, _ ends: [Int], _ found: inout [Bool]) {
        var record = 0
        var at = 0
        while let hit = firstIndex(in: bytes, from: at) {
            while record < ends.count, ends[record] <= hit { record += 1 }
            guard record < ends.count else { return }
            let start = record == 0 ? 0 : ends[record - 1]
            if hit + self.bytes.count <= ends[record],
                stands(at: hit, in: bytes, start, ends[record])
            {
                found[record] = true
                at = ends[record]
            } else {
                at = hit + 1
            }
        }
    }

    /// True if any payload in `bytes` may hold the pattern: a quick look before records are told
    /// apart.
    func mayOccur(in bytes: UnsafeRawBufferPointer) -> Bool {
        if self.bytes.isEmpty { return true }
        return firstIndex(in: bytes, from: 0) != nil
            || nextEscape(bytes, from: 0, any: holdsSpecial) != nil
    }

    /// Payloads with an escape that matters are searched again with their escapes resolved.
    private func searchEscaped(
        _ bytes: UnsafeRawBufferPointer,
        _ ends: [Int],
        _ found: inout [Bool]
    ) {
        var record = 0
        var at = 0
        var plain: [UInt8] = []
        // What is beside a word matters too.
        while let hit = nextEscape(bytes, from: at, any: holdsSpecial || isWord) {
            while record < ends.count, ends[record] <= hit { record += 1 }
            guard record < ends.count else { return }
            at = ends[record]
            if found[record] { continue }
            let start = record == 0 ? 0 : ends[record - 1]
            plain.removeAll(keepingCapacity: true)
            Self.resolve(UnsafeRawBufferPointer(rebasing: bytes[start..<at]), into: &plain)
            found[record] = plain.withUnsafeBytes { occurs(in: $0) }
        }
    }

    private func occurs(in plain: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while let hit = firstIndex(in: plain, from: at) {
            if stands(at: hit, in: plain, 0, plain.count) { return true }
            at = hit + 1
        }
        return false
    }

    /// The next escape that can make the pattern appear.
    ///
    /// A hit that only the resolved text has spans a character that an escape stands for. Without
    /// a quote, backslash, slash or control in the pattern, that can only be a `\u` of one of its
    /// characters.
    private func nextEscape(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        any: Bool
    ) -> Int? {
        guard any else { return nextUnicode(bytes, from: start) }
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        return MemorySearch.first(0x5c, in: base + start, count: bytes.count - start)
            .map { $0 - base }
    }

    private func nextUnicode(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var at = start
        while let hit = Self.unicode.firstIndex(in: bytes, from: at) {
            if mayHold(unicodeAt: hit, in: bytes) { return hit }
            at = hit + 2
        }
        return nil
    }

    private static let unicode = BytePattern(Array("\\u".utf8), ignoresCase: false, common: [])

    /// Appends `payload` with every escape resolved; what lies between escapes is copied in runs.
    static func resolve(_ payload: UnsafeRawBufferPointer, into plain: inout [UInt8]) {
        guard let base = payload.baseAddress else { return }
        var at = 0
        while at < payload.count,
            let place = MemorySearch.first(0x5c, in: base + at, count: payload.count - at)
        {
            let hit = place - base
            plain.append(contentsOf: UnsafeRawBufferPointer(rebasing: payload[at..<hit]))
            at = min(payload.count, hit + escapeLength(payload, hit))
            JSONText.appendUnescaped(
                UnsafeRawBufferPointer(rebasing: payload[hit..<at]),
                to: &plain
            )
        }
        plain.append(contentsOf: UnsafeRawBufferPointer(rebasing: payload[at...]))
    }

    /// 2, 6 for `\u`, 12 for two of them that may be a pair of surrogates.
    private static func escapeLength(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> Int {
        guard at + 6 <= bytes.count, bytes[at + 1] == UInt8(ascii: "u") else { return 2 }
        guard at + 12 <= bytes.count, bytes[at + 6] == 0x5c,
            bytes[at + 7] == UInt8(ascii: "u")
        else { return 6 }
        // D8 to DB begin a pair.
        let isHigh = bytes[at + 2] | 0x20 == UInt8(ascii: "d")
        return isHigh && [0x38, 0x39, 0x61, 0x62].contains(bytes[at + 3] | 0x20) ? 12 : 6
    }
}
