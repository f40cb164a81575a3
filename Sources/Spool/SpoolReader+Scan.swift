internal import Compression
internal import SQLite
internal import Telemetry

extension SpoolReader {
    /// Hands the records that match to `body`, in total order: `order`, then identifier, epoch and
    /// sequence; the exact reverse where the query says so.
    ///
    /// Memory stays flat.
    ///
    /// - Parameter body: gets each record; false stops the scan.
    /// - Returns: what could not be read.
    public mutating func forEach(
        _ query: Query,
        _ body: (borrowing RecordView) -> Bool
    ) throws(SpoolError) -> ScanReport {
        do {
            var scan = try Scan(database, query)
            guard let last = query.last else {
                try merge(&scan, reverse: query.reverse) { $0.emit(body) }
                return scan.report
            }
            guard last > 0 else { return scan.report }
            var left = last
            if query.reverse {
                try merge(&scan, reverse: true) { batch in
                    left -= 1
                    return batch.emit(body) && left > 0
                }
                return scan.report
            }
            // Back to the first of the newest N, then forward from it: two passes over the same
            // batches instead of N records in memory.
            var from: RecordKey?
            try merge(&scan, reverse: true, withPayload: query.text != nil) { batch in
                left -= 1
                from = batch.key
                return left > 0
            }
            if let from { try merge(&scan, reverse: false, from: from) { $0.emit(body) } }
            return scan.report
        } catch {
            throw SpoolError("read spool", directory, error)
        }
    }

    /// How many records match; batches are opened only where the text or a time bound inside a
    /// batch needs it.
    public mutating func count(_ query: Query) throws(SpoolError) -> (UInt64, ScanReport) {
        do {
            var scan = try Scan(database, query)
            var total = scan.counted
            for row in scan.rows where !row.isCounted {
                let batch = try open(row.row, &scan, withPayload: query.text != nil)
                total += UInt64(batch?.matches.count ?? 0)
            }
            if let last = query.last { total = min(total, UInt64(max(0, last))) }
            return (total, scan.report)
        } catch {
            throw SpoolError("count in spool", directory, error)
        }
    }

    /// Hands out everything committed after store number `store` that matches, in the order of the
    /// commits; `last` and `reverse` of the query do not matter.
    ///
    /// - Returns: the last store number seen, matching or not: the `store` of the next call. Where
    ///   `body` stopped it, that of the record it stopped at.
    public mutating func follow(
        after store: UInt64,
        _ query: Query,
        _ body: (borrowing RecordView) -> Bool
    ) throws(SpoolError) -> UInt64 {
        do {
            try refresh()
            guard let from = try firstBatch(after: store) else { return store }
            var scan = try Scan(database, query, fromBatch: from)
            defer { followReport.merge(scan.report) }
            for listed in scan.rows {
                guard let batch = try open(listed.row, &scan, withPayload: true) else { continue }
                batch.dropStored(upTo: store)
                if batch.matches.isEmpty { continue }
                var stopped: UInt64?
                repeat {
                    let goesOn = batch.emit { view in
                        if body(view) { return true }
                        stopped = view.store
                        return false
                    }
                    if !goesOn { break }
                } while batch.advance()
                if let stopped { return stopped }
            }
            return max(store, scan.lastStore)
        } catch {
            throw SpoolError("follow spool", directory, error)
        }
    }

    /// The first batch that holds something after `store`, found from the newest backwards.
    private func firstBatch(after store: UInt64) throws -> Int64? {
        let rows = try database.prepare("SELECT id, first_store, n FROM batch ORDER BY id DESC")
        var first: Int64?
        while try rows.step() {
            let last = rows.integer(1) &+ max(1, rows.integer(2)) &- 1
            if last < 0 || UInt64(last) <= store { break }
            first = rows.integer(0)
        }
        return first
    }

    /// Gives every match to `body` in order, opening batches as late and dropping them as early as
    /// their time spans allow.
    private mutating func merge(
        _ scan: inout Scan,
        reverse: Bool,
        from: RecordKey? = nil,
        withPayload: Bool = true,
        _ body: (OpenBatch) -> Bool
    ) throws {
        scan.sort(reverse: reverse)
        var heap = BatchHeap(reverse: reverse)
        var next = 0
        while true {
            while next < scan.rows.count {
                let row = scan.rows[next].row
                if let top = heap.top?.key.order, reverse ? row.t1 < top : row.t0 > top { break }
                next += 1
                if let from, row.t1 < from.order { continue }
                guard let batch = try open(row, &scan, withPayload: withPayload) else { continue }
                batch.sort(reverse: reverse, from: from)
                if batch.matches.isEmpty { continue }
                heap.push(batch)
                heap.rest(above: SpoolLimits.mergeBytes)
            }
            guard let top = heap.top else { return }
            if top.isAtRest {
                guard try wake(top, &scan, withPayload: withPayload) else {
                    heap.dropTop()
                    continue
                }
                heap.rest(above: SpoolLimits.mergeBytes)
            }
            guard body(top) else { return }
            heap.advanceTop()
        }
    }

    /// Unpacks a batch and finds its matches; nil where it has none, or is damaged, which is
    /// reported.
    mutating func open(
        _ row: BatchRow,
        _ scan: inout Scan,
        withPayload: Bool
    ) throws -> OpenBatch? {
        let text = scan.query.text
        guard let unpacked = try unpack(row, &scan, withPayload: withPayload, text) else {
            return nil
        }
        let batch = OpenBatch(
            row: row,
            groups: unpacked.groups,
            columns: unpacked.columns,
            payload: unpacked.payload,
            catalog: scan.catalog
        )
        batch.filter(scan.query, scan.catalog)
        return batch
    }

    /// Unpacks a resting batch again; false where it cannot be read any more.
    mutating func wake(
        _ batch: OpenBatch,
        _ scan: inout Scan,
        withPayload: Bool
    ) throws -> Bool {
        guard let unpacked = try unpack(batch.row, &scan, withPayload: withPayload, nil),
            unpacked.groups == batch.groups
        else { return false }
        batch.wake(unpacked.columns, unpacked.payload)
        return true
    }

    private struct Unpacked {
        var groups: [BatchGroup]
        var columns: EnvelopeColumns.Decoded
        var payload: [UInt8]
    }

    private mutating func unpack(
        _ row: BatchRow,
        _ scan: inout Scan,
        withPayload: Bool,
        _ text: TextPattern?
    ) throws -> Unpacked? {
        do {
            let (bytes, checksum, streams) = try load(row)
            guard let groups = streams.withUnsafeBytes({ row.groups(from: $0) }) else {
                throw DamagedBatch(reason: "its row is damaged")
            }
            guard scan.catalog.knows(groups) else {
                throw DamagedBatch(reason: "its names are not known")
            }
            let result = bytes.withUnsafeBytes { raw in
                Result { () throws(DamagedBatch) in
                    try decoder.decode(
                        raw,
                        row: row,
                        groups: groups,
                        checksum: checksum,
                        withPayload: withPayload,
                        text: text
                    )
                }
            }
            guard let (columns, payload) = try result.get() else { return nil }
            return Unpacked(groups: groups, columns: columns, payload: payload)
        } catch let error as DamagedBatch {
            scan.report.add(batch: row.id, records: row.count, reason: error.reason)
        } catch let error as SQLiteError where error.isDamaged {
            scan.report.add(batch: row.id, records: row.count, reason: error.message)
        }
        return nil
    }

    /// A batch's blob, copied out in a read transaction of its own.
    private func load(_ row: BatchRow) throws -> ([UInt8], Int64, [UInt8]) {
        defer { blob.reset() }
        try blob.bind(1, row.id)
        guard try blob.step() else { throw DamagedBatch(reason: "its row is gone") }
        return (blob.blob(0), blob.integer(1), blob.blob(2))
    }
}
