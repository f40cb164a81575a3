internal import SQLite

/// Walks the matches of a scan in one order, forwards or backwards.
///
/// Invariants:
/// 1. A batch is opened before the first of its records can be next, and let go after its last.
/// 2. What is open is a copy: no transaction runs on hot.db while a record is looked at.
/// 3. Where a compaction has moved what was listed, the list is made anew, and the walk goes on
///    behind the record that it stood at: nothing is left out or given twice.
struct RecordMerge {
    /// What the order goes by.
    enum Sort {
        /// The order of output.
        case order
        /// The time that a record carries.
        case time
        /// The order of commits.
        case store
    }

    private(set) var scan: Scan
    private let sort: Sort
    private let reverse: Bool
    private let withPayload: Bool
    /// What is listed and not opened.
    private var pending: PriorityQueue<Scan.Row>
    private var open: BatchHeap
    /// Where the walk begins, inclusive.
    private var from: RecordPlace?
    /// The last record given.
    private var last: RecordPlace?
    /// True if the walk is likely to go to the end, so that it pays to unpack ahead.
    private let isWhole: Bool
    /// Which payloads of a batch are likely to be enough; nil for all.
    private let first: FirstFew?
    private var ahead: ReadAhead?

    /// A walk over `scan`.
    ///
    /// - Parameters:
    ///   - from: leaves out what comes before it, forwards only.
    ///   - isWhole: true if the walk is likely to go to the end.
    ///   - expected: how many records will be taken; the walk can go on behind them all the same.
    init(
        _ scan: Scan,
        by sort: Sort,
        reverse: Bool = false,
        from: RecordPlace? = nil,
        withPayload: Bool = true,
        isWhole: Bool = false,
        expected: Int? = nil
    ) {
        // A search goes through most batches for a few records of each.
        let isSearch = scan.query.text != nil || scan.query.conditions.payload != nil
        first = (isSearch ? nil : expected).flatMap {
            FirstFew(count: $0, by: sort, reverse: reverse, from: from?.key.order)
        }
        self.isWhole = isWhole && first == nil
        self.scan = scan
        self.sort = sort
        self.reverse = reverse
        self.from = from
        self.withPayload = withPayload
        open = BatchHeap(reverse: reverse)
        pending = PriorityQueue { left, right in
            reverse
                ? left.row.last(by: sort) > right.row.last(by: sort)
                : left.row.first(by: sort) < right.row.first(by: sort)
        }
        fill()
    }

    private mutating func fill() {
        from = from?.ranked(scan.catalog)
        if sort != .store { last = last?.ranked(scan.catalog) }
        for row in scan.rows where !isBehind(row.row) { pending.push(row) }
    }

    /// The batch whose match is next, standing at it; nil at the end.
    mutating func next(_ reader: inout SpoolReader) throws -> OpenBatch? {
        if let top = open.top {
            last = top.standing
            open.advanceTop()
        }
        while true {
            do {
                return try settle(&reader)
            } catch is Vanished {
                scan = try reader.scan(again: scan)
                open = BatchHeap(reverse: reverse)
                ahead = nil
                while pending.pop() != nil {}
                fill()
            }
        }
    }

    private mutating func settle(_ reader: inout SpoolReader) throws -> OpenBatch? {
        while true {
            while let row = pending.top, mayBeNext(row.row) {
                pending.pop()
                try take(row, &reader)
            }
            guard let top = open.top else { return nil }
            if top.isAtRest {
                guard try reader.wake(top, &scan, withPayload: withPayload) else {
                    open.dropTop()
                    continue
                }
                open.rest(above: SpoolLimits.mergeBytes)
            }
            return top
        }
    }

    /// True if a record of a batch can come before the next of those that are open.
    private func mayBeNext(_ row: BatchRow) -> Bool {
        guard let top = open.top?.key.order else { return true }
        return reverse ? row.last(by: sort) >= top : row.first(by: sort) <= top
    }

    /// True if the walk has passed a batch.
    private func isBehind(_ row: BatchRow) -> Bool {
        if let from, row.last(by: sort) < from.key.order { return true }
        guard let last else { return false }
        return reverse ? row.first(by: sort) > last.key.order : row.last(by: sort) < last.key.order
    }

    private mutating func take(_ row: Scan.Row, _ reader: inout SpoolReader) throws {
        if case .segment(let segment) = row.place {
            let batches = try reader.batches(of: segment, &scan).filter { !isBehind($0.row) }
            for batch in batches { pending.push(batch) }
            return lookAhead(batches)
        }
        guard let batch = try reader.open(row, &scan, withPayload: withPayload, ahead, first)
        else { return }
        batch.sort(by: sort, reverse: reverse, from: from?.key, behind: last?.key)
        if batch.matches.isEmpty { return }
        open.push(batch)
        open.rest(above: SpoolLimits.mergeBytes)
    }
}

extension RecordMerge {
    /// Has batches of a segment unpacked before they are wanted.
    private mutating func lookAhead(_ batches: [Scan.Row]) {
        guard isWhole else { return }
        let inOrder = batches.sorted { left, right in
            reverse
                ? left.row.last(by: sort) > right.row.last(by: sort)
                : left.row.first(by: sort) < right.row.first(by: sort)
        }
        ReadAhead.add(inOrder, to: &ahead, scan, withPayload: withPayload)
    }
}

/// What was listed is not where it was: a compaction has moved it.
struct Vanished: Error {}

extension BatchRow {
    /// The least key of its records, as far as the plain columns tell.
    func first(by sort: RecordMerge.Sort) -> Int64 {
        switch sort {
        case .order: t0
        case .time: time0
        case .store: Int64(clamping: firstStore)
        }
    }

    /// The greatest key of its records.
    func last(by sort: RecordMerge.Sort) -> Int64 {
        switch sort {
        case .order: t1
        case .time: time1
        case .store: Int64(clamping: lastStore)
        }
    }
}
