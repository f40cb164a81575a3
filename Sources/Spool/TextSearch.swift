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
            if hit + self.bytes.count <= ends[record] {
                found[record] = true
                at = ends[record]
            } else {
                at = hit + 1
            }
        }
    }

    /// Payloads with a backslash are searched again with their escapes resolved.
    private func searchEscaped(
        _ bytes: UnsafeRawBufferPointer,
        _ ends: [Int],
        _ found: inout [Bool]
    ) {
        guard let base = bytes.baseAddress else { return }
        var record = 0
        var at = 0
        var plain: [UInt8] = []
        while at < bytes.count,
            let place = MemorySearch.first(0x5c, in: base + at, count: bytes.count - at)
        {
            let hit = place - base
            while record < ends.count, ends[record] <= hit { record += 1 }
            guard record < ends.count else { return }
            at = ends[record]
            if found[record] { continue }
            let start = record == 0 ? 0 : ends[record - 1]
            plain.removeAll(keepingCapacity: true)
            JSONText.appendUnescaped(
                UnsafeRawBufferPointer(rebasing: bytes[start..<ends[record]]),
                to: &plain
            )
            if ignoresCase {
                let source = plain
                source.withUnsafeBytes { Self.lower($0, into: &plain) }
            }
            found[record] = plain.withUnsafeBytes { firstIndex(in: $0, from: 0) != nil }
        }
    }
}
