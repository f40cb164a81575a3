internal import Basics

/// What the next segment is made of.
///
/// Invariants:
/// 1. Its hot batches follow each other, and no other hot batch lies between `lo` and `hi`.
/// 2. The newest batches stay hot, so that the newest records come fast.
struct CompactionPlan {
    /// A hot batch, as far as a plan needs to know it.
    struct Candidate {
        var row: BatchRow
        var checksum: Int64
        /// False where it cannot be read: it stays where it is.
        var isReadable = true
    }

    /// A small segment that is joined with what comes after it.
    var joined: SegmentRow?
    var hot: [Candidate]

    var lo: Int64 { joined?.lo ?? hot.first?.row.id ?? 0 }
    var hi: Int64 { hot.last?.row.id ?? 0 }

    /// Payload bytes and records of all of it.
    var bytes: Int { hot.reduce(joined?.row.raw ?? 0) { $0 + $1.row.raw } }
    var records: Int { hot.reduce(joined?.row.count ?? 0) { $0 + $1.row.count } }

    /// The plan for a hot tier, oldest batch first; nil while it is to be left alone.
    ///
    /// - Parameters:
    ///   - last: the newest segment.
    ///   - isOld: true once the oldest batch has waited long enough.
    init?(
        _ all: [Candidate],
        last: SegmentRow?,
        isOld: Bool,
        limits: CompactionLimits
    ) {
        var left = all.reduce(0) { $0 + $1.row.weight }
        let isCrowded = all.count >= limits.hotBatches
        let isWorthIt = isOld && left >= limits.keptBytes + limits.smallBytes
        guard isCrowded || isWorthIt || left >= limits.hotBytes else { return nil }
        guard let first = all.firstIndex(where: \.isReadable) else { return nil }
        var weight = 0
        if let last, last.row.weight < limits.smallBytes,
            first == 0 || all[first - 1].row.id < last.lo
        {
            joined = last
            weight = last.row.weight
        }
        for candidate in all[..<first] { left -= candidate.row.weight }
        hot = []
        // Of very many small batches a quarter stays.
        let end = all.count - (isCrowded ? limits.hotBatches / 4 : 0)
        for index in first..<max(first, end) {
            let own = all[index].row.weight
            let isFull = weight + own > limits.segmentBytes
            let mustStay = left - own < limits.keptBytes && !(isCrowded && hot.isEmpty)
            if !all[index].isReadable || mustStay || isFull && !hot.isEmpty { break }
            hot.append(all[index])
            weight += own
            left -= own
        }
        if hot.isEmpty { return nil }
    }

    /// A checksum of what goes in: tells whether a segment file was made of just this.
    static func source(_ joined: [SegmentRow], _ hot: [Candidate]) -> Int64 {
        var writer = ByteWriter(capacity: hot.count * 16 + 64)
        for segment in joined {
            writer.text(segment.name)
            writer.zigzag(segment.bytes)
        }
        for batch in hot {
            writer.zigzag(batch.row.id)
            writer.zigzag(batch.checksum)
        }
        return Int64(Checksum.crc32c(writer.bytes))
    }
}
