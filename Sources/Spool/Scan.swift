internal import SQLite

/// The batches that a query may have to open, as they were at one moment, with the names of then.
///
/// About 64 bytes a batch: what is kept in memory of a long history.
struct Scan {
    struct Row {
        var row: BatchRow
        /// True if all its matches are in `counted` already.
        var isCounted: Bool
        /// Records that pass names and levels.
        var wanted: Int
    }

    let query: Query
    let catalog: Catalog
    private(set) var rows: [Row] = []
    /// Matches in batches of which that is known without opening them.
    private(set) var counted: UInt64 = 0
    /// The last store number of any batch, matching or not.
    private(set) var lastStore: UInt64 = 0
    var report = ScanReport()

    /// Lists batches from number `fromBatch` on, in one short read transaction.
    init(_ database: borrowing Database, _ query: Query, fromBatch: Int64 = 0) throws {
        self.query = query
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        catalog = try Catalog(database, query)
        // Where store numbers are asked for, SQLite leaves the others out without our looking.
        let stores = query.conditions.stores
        let range = stores.isOpen ? "" : " AND first_store <= ? AND first_store + n > ?"
        let list = try database.prepare(
            "SELECT \(BatchRow.columns) FROM batch WHERE id >= ?\(range) ORDER BY id"
        )
        try list.bind(1, fromBatch)
        if !stores.isOpen {
            try list.bind(2, stores.last)
            try list.bind(3, stores.first)
        }
        var next = fromBatch
        do {
            while try list.step() {
                next = list.integer(0) + 1
                add(list)
            }
        } catch {
            guard error.isDamaged else { throw error }
            try salvage(database, from: next)
        }
    }

    /// Goes on after a damaged page by single numbers, which often finds what lies behind it.
    private mutating func salvage(_ database: borrowing Database, from first: Int64) throws {
        let end = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'batch'") ?? 0
        let find = try database.prepare("SELECT \(BatchRow.columns) FROM batch WHERE id = ?")
        guard first <= end else { return }
        for id in first...min(end, first + SpoolLimits.salvageBatches) {
            defer { find.reset() }
            try find.bind(1, id)
            do {
                if try find.step() { add(find) }
            } catch {
                guard error.isDamaged else { throw error }
                report.add(batch: id, records: 0, reason: error.message)
            }
        }
    }

    /// Sorts by the end at which a merge meets a batch first.
    mutating func sort(reverse: Bool) {
        if reverse {
            rows.sort { $0.row.t1 > $1.row.t1 }
        } else {
            rows.sort { $0.row.t0 < $1.row.t0 }
        }
    }

    /// Sorts by the end at which a merge by the records' own time meets a batch first.
    mutating func sortByTime(reverse: Bool) {
        if reverse {
            rows.sort { $0.row.time1 > $1.row.time1 }
        } else {
            rows.sort { $0.row.time0 < $1.row.time0 }
        }
    }

    private mutating func add(_ list: borrowing Statement) {
        let row = BatchRow(list)
        guard list.withBlob(8, { row.isSound($0) }), let wanted = wanted(row, list) else {
            let records = min(max(0, row.count), SpoolLimits.batchRecords)
            report.add(batch: row.id, records: records, reason: "its row is damaged")
            return
        }
        lastStore = max(lastStore, row.lastStore)
        let times = row.time0...row.time1
        guard wanted > 0, query.mayWant(times: times), query.conditions.mayWant(row) else {
            return
        }
        let isCounted =
            query.text == nil && query.wantsAll(times: times) && query.conditions.wantsAll(row)
        if isCounted { counted += UInt64(wanted) }
        rows.append(Row(row: row, isCounted: isCounted, wanted: wanted))
    }

    /// How many records of a batch pass names and levels; its groups are not looked at where all
    /// do.
    ///
    /// Nil where they make no sense.
    private func wanted(_ row: BatchRow, _ list: borrowing Statement) -> Int? {
        guard query.choosesGroups else { return row.count }
        guard let groups = list.withBlob(8, { row.groups(from: $0) }), catalog.knows(groups) else {
            return nil
        }
        var wanted = 0
        for group in groups where catalog.wants(group, query) { wanted += group.count }
        return wanted
    }
}
