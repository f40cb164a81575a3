internal import Telemetry

/// Which records of a batch a walk of so many will want: the first of it in its order.
///
/// A guess that costs nothing but time where it is wrong: the batch is unpacked again then.
struct FirstFew {
    private let count: Int
    private let sort: RecordMerge.Sort
    private let reverse: Bool
    /// Going forwards, what comes before it is not wanted.
    private let from: Int64?

    /// More than this is a good part of a batch: unpacking all of it takes hardly longer.
    private static let countMax = 2048

    /// Nil where it would not pay.
    init?(count: Int, by sort: RecordMerge.Sort, reverse: Bool, from: Int64? = nil) {
        guard count <= Self.countMax else { return nil }
        self.count = max(1, count)
        self.sort = sort
        self.reverse = reverse
        self.from = reverse ? nil : from
    }

    /// Which of the matches are wanted; nil where most are.
    ///
    /// All of those that are equal in the order are, or none.
    func choose(_ unpacked: Unpacked) -> [Bool]? {
        let keys =
            sort == .store
            ? unpacked.stores.map { Int64(clamping: $0) }
            : unpacked.columns.envelopes.map { sort == .time ? $0.time : $0.order }
        guard keys.count > 2 * count else { return nil }
        let isSorted = zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 }
        let sorted = isSorted ? keys : keys.sorted()
        var range = sorted[0]...sorted[sorted.count - 1]
        if reverse {
            range = sorted[sorted.count - count]...range.upperBound
        } else {
            let start = from.flatMap { bound in sorted.firstIndex { $0 >= bound } } ?? 0
            let end = min(start + count, sorted.count) - 1
            range = sorted[start]...sorted[end]
        }
        let chosen = keys.map { range.contains($0) }
        return chosen.count { $0 } > chosen.count / 2 ? nil : chosen
    }
}
