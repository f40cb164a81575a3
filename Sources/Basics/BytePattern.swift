internal import CProcessor

/// Bytes that others are searched for, sixteen places at a time.
public struct BytePattern: Sendable, Equatable {
    /// What is looked for; letters in lower case where case does not matter.
    public let bytes: [UInt8]
    /// Bits that do not matter, by byte.
    private let masks: [UInt8]
    /// Two places whose bytes are rare: the search looks at them first.
    private let anchors: Anchors

    private struct Anchors: Equatable {
        var first: Int
        var second: Int
    }

    /// A pattern.
    ///
    /// - Parameters:
    ///   - ignoresCase: ASCII letters fit in either case; `bytes` holds no capital one then.
    ///   - common: bytes of what is searched, the most frequent first.
    public init(_ bytes: [UInt8], ignoresCase: Bool, common: [UInt8]) {
        self.bytes = bytes
        masks = bytes.map { ignoresCase && (0x61...0x7a).contains($0) ? 0x20 : 0 }
        var found = (first: 0, second: 0)
        var ranks = (first: -1, second: -1)
        for (index, byte) in bytes.enumerated() {
            let rank = common.firstIndex(of: byte) ?? common.count
            if rank > ranks.first {
                (found, ranks) = ((index, found.first), (rank, ranks.first))
            } else if rank > ranks.second {
                (found.second, ranks.second) = (index, rank)
            }
        }
        anchors = Anchors(first: found.first, second: found.second)
    }

    /// Where the pattern stands first in `haystack`, at `start` or after; nil if it does not.
    ///
    /// The empty one stands everywhere.
    public func firstIndex(in haystack: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start >= 0, start <= haystack.count else { return nil }
        if bytes.isEmpty { return start }
        guard let base = haystack.baseAddress else { return nil }
        let found = bytes.withUnsafeBufferPointer { bytes in
            masks.withUnsafeBufferPointer { masks in
                var pattern = cprocessor_pattern(
                    bytes: bytes.baseAddress,
                    masks: masks.baseAddress,
                    count: bytes.count,
                    anchors: (anchors.first, anchors.second)
                )
                return cprocessor_find(base, haystack.count, start, &pattern)
            }
        }
        return found < 0 ? nil : found
    }
}
