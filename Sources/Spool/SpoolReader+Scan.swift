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
            let scan = try scan(query)
            guard let last = query.last else {
                let merge = RecordMerge(scan, by: .order, reverse: query.reverse, isWhole: true)
                return try walk(merge, body)
            }
            guard last > 0 else { return scan.report }
            var left = last
            if query.reverse {
                let back = RecordMerge(scan, by: .order, reverse: true, expected: last)
                return try walk(back) { record in
                    left -= 1
                    return body(record) && left > 0
                }
            }
            // Back to the first of the newest N, then forward from it: two passes over the same
            // batches instead of N records in memory.
            var back = RecordMerge(
                scan,
                by: .order,
                reverse: true,
                withPayload: false
            )
            var from: RecordPlace?
            while left > 0, let batch = try back.next(&self) {
                left -= 1
                from = batch.standing
            }
            guard let from else { return back.scan.report }
            let walk = RecordMerge(back.scan, by: .order, from: from, expected: last)
            return try self.walk(walk, body)
        } catch {
            throw SpoolError("read spool", directory, error)
        }
    }

    /// Gives every match of a merge to `body` until that says false.
    private mutating func walk(
        _ merge: consuming RecordMerge,
        _ body: (borrowing RecordView) -> Bool
    ) throws -> ScanReport {
        while let batch = try merge.next(&self) {
            if !batch.emit(body) { break }
        }
        return merge.scan.report
    }

    /// How many records match; batches are opened only where the text or a time bound inside a
    /// batch needs it.
    public mutating func count(_ query: Query) throws(SpoolError) -> (UInt64, ScanReport) {
        do {
            var scan = try scan(query)
            while true {
                do {
                    var total = try counted(&scan)
                    if let last = query.last { total = min(total, UInt64(max(0, last))) }
                    return (total, scan.report)
                } catch is Vanished {
                    scan = try self.scan(again: scan)
                }
            }
        } catch {
            throw SpoolError("count in spool", directory, error)
        }
    }

    private mutating func counted(_ scan: inout Scan) throws -> UInt64 {
        var total = scan.counted
        var ahead: ReadAhead?
        for row in scan.rows where !row.isCounted {
            guard case .segment(let segment) = row.place else {
                total += try counted(row, &scan)
                continue
            }
            let batches = try batches(of: segment, &scan)
            let unknown = batches.filter { !$0.isCounted }
            ReadAhead.add(unknown, to: &ahead, scan, withPayload: false)
            for batch in batches {
                total +=
                    try batch.isCounted ? UInt64(batch.wanted) : counted(batch, &scan, ahead)
            }
        }
        return total
    }

    private mutating func counted(
        _ row: Scan.Row,
        _ scan: inout Scan,
        _ ahead: ReadAhead? = nil
    ) throws -> UInt64 {
        try UInt64(open(row, &scan, withPayload: false, ahead)?.matches.count ?? 0)
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
            var query = query
            query.conditions.stores.raise(to: Int64(clamping: store) + 1)
            var merge = RecordMerge(
                try Scan(database, query, fromBatch: from),
                by: .store
            )
            defer { followReport.merge(merge.scan.report) }
            while let batch = try merge.next(&self) {
                if !batch.emit(body) { return UInt64(clamping: batch.key.order) }
            }
            return max(store, merge.scan.lastStore)
        } catch {
            throw SpoolError("follow spool", directory, error)
        }
    }

    /// The first hot batch that holds something after `store`, found from the newest backwards; a
    /// number beyond all where only segments do, and nil where nothing does.
    private func firstBatch(after store: UInt64) throws -> Int64? {
        let rows = try database.prepare("SELECT id, first_store, n FROM batch ORDER BY id DESC")
        var first: Int64?
        while try rows.step() {
            let last = rows.integer(1) &+ max(1, rows.integer(2)) &- 1
            if last < 0 || UInt64(last) <= store { break }
            first = rows.integer(0)
        }
        if let first { return first }
        guard try Schema.hasSegments(database),
            let last = try database.integer("SELECT max(last_store) FROM segment"),
            UInt64(clamping: last) > store
        else { return nil }
        return .max
    }

    /// What a query may have to open, as it is now.
    func scan(_ query: Query) throws -> Scan {
        try Scan(database, query)
    }

    /// The same as an earlier scan, as it lies now.
    mutating func scan(again old: Scan) throws -> Scan {
        try refresh(always: true)
        return try Scan(database, again: old)
    }

    /// Unpacks a batch and finds its matches; nil where it has none, or is damaged, which is
    /// reported.
    ///
    /// - Parameters:
    ///   - ahead: who may have unpacked it before.
    ///   - first: the payloads that are likely to be enough; the batch can be woken for the others.
    /// - Throws: `Vanished` where a compaction has moved it.
    mutating func open(
        _ row: Scan.Row,
        _ scan: inout Scan,
        withPayload: Bool,
        _ ahead: ReadAhead? = nil,
        _ first: FirstFew? = nil
    ) throws -> OpenBatch? {
        if shouldStop() { throw SQLiteError.interrupted }
        let test = scan.query.conditions.payload
        let found: Unpacked?
        let reading = ColdReading(scan.query, scan.catalog, withPayload: withPayload || test != nil)
        let taken = ahead?.take(row) { later in
            guard case .cold(let file) = later.place else { return .failed }
            return Ahead { try reading.unpack(later.row, file, cold) }
        }
        if let taken {
            openedBatches += 1
            found = taken.unpacked
        } else {
            // A hot batch is searched when it is unpacked, payload by payload.
            let withPayload = withPayload || test != nil || row.isHot && scan.query.text != nil
            found = try unpack(
                row,
                &scan,
                withPayload: withPayload,
                isFirst: true,
                test == nil ? first : nil
            )
        }
        guard let unpacked = found else { return nil }
        let batch = OpenBatch(row, unpacked, catalog: scan.catalog)
        if case .cold = row.place {
            batch.takeAll()
        } else {
            batch.filter(scan.query, scan.catalog)
        }
        if let test { batch.keep { test.mayPass($0) } }
        return batch
    }

    /// Unpacks a resting batch again; false where it cannot be read any more.
    mutating func wake(
        _ batch: OpenBatch,
        _ scan: inout Scan,
        withPayload: Bool
    ) throws -> Bool {
        let withPayload = withPayload || scan.query.conditions.payload != nil
        guard
            let unpacked = try unpack(batch.place, &scan, withPayload: withPayload, isFirst: false)
        else { return false }
        return batch.wake(unpacked)
    }

    private mutating func unpack(
        _ row: Scan.Row,
        _ scan: inout Scan,
        withPayload: Bool,
        isFirst: Bool,
        _ first: FirstFew? = nil
    ) throws -> Unpacked? {
        if shouldStop() { throw SQLiteError.interrupted }
        openedBatches += 1
        do {
            if case .cold(let file) = row.place {
                let reading = ColdReading(scan.query, scan.catalog, withPayload: withPayload)
                return try reading.unpack(row.row, file, cold, first)
            }
            let text = isFirst ? scan.query.text : nil
            return try unpack(hot: row.row, scan, withPayload: withPayload, text)
        } catch let error as DamagedBatch {
            scan.report.add(row.name, records: row.row.count, reason: error.reason)
        } catch let error as SQLiteError where error.isDamaged {
            scan.report.add(row.name, records: row.row.count, reason: error.message)
        }
        return nil
    }

    private mutating func unpack(
        hot row: BatchRow,
        _ scan: borrowing Scan,
        withPayload: Bool,
        _ text: TextPattern?
    ) throws -> Unpacked? {
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
    }

    /// A batch's blob, copied out in a read transaction of its own.
    private func load(_ row: BatchRow) throws -> ([UInt8], Int64, [UInt8]) {
        defer { blob.reset() }
        try blob.bind(1, row.id)
        if try blob.step() { return (blob.blob(0), blob.integer(1), blob.blob(2)) }
        if try isMoved(row.id) { throw Vanished() }
        throw DamagedBatch(reason: "its row is gone")
    }
}
