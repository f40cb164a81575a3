internal import Basics
internal import LinuxIO

extension TextPattern {
    /// Which of the payloads that lie one after another in `bytes` hold the pattern.
    ///
    /// The whole run is searched at once; a hit from one payload into the next is none.
    func search(_ bytes: UnsafeRawBufferPointer, ends: [Int]) -> [Bool] {
        if self.bytes.isEmpty { return [Bool](repeating: true, count: ends.count) }
        var found = [Bool](repeating: false, count: ends.count)
        if ignoresCase {
            var lowered: [UInt8] = []
            Self.lower(bytes, into: &lowered)
            lowered.withUnsafeBytes { mark($0, ends, &found) }
        } else {
            mark(bytes, ends, &found)
        }
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
        if ignoresCase ? occursInLower(bytes) : firstIndex(in: bytes, from: 0) != nil {
            return true
        }
        return nextEscape(bytes, from: 0, any: holdsSpecial) != nil
    }

    /// Lowers and searches piece by piece, so that the copy stays in the fastest cache; pieces
    /// overlap by the pattern.
    private func occursInLower(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let step = max(Self.pieceBytes, 4 * self.bytes.count)
        return withUnsafeTemporaryAllocation(byteCount: step, alignment: 64) { piece in
            var at = 0
            while at < bytes.count {
                let end = min(bytes.count, at + step)
                let source = UnsafeRawBufferPointer(rebasing: bytes[at..<end])
                Self.lower(source, piece)
                let lowered = UnsafeRawBufferPointer(rebasing: piece[..<source.count])
                if firstIndex(in: lowered, from: 0) != nil { return true }
                if end == bytes.count { return false }
                at = end - self.bytes.count + 1
            }
            return false
        }
    }

    private static let pieceBytes = 16 << 10

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
            if ignoresCase {
                let source = plain
                source.withUnsafeBytes { Self.lower($0, into: &plain) }
            }
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
    /// a quote, backslash, slash or control in the pattern, that can only be `\u`.
    private func nextEscape(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        any: Bool
    ) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var at = start
        while at < bytes.count,
            let place = MemorySearch.first(0x5c, in: base + at, count: bytes.count - at)
        {
            let hit = place - base
            if any { return hit }
            if hit + 1 < bytes.count, bytes[hit + 1] == UInt8(ascii: "u") { return hit }
            at = hit + 2
        }
        return nil
    }

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
