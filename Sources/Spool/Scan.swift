internal import SQLite
internal import Telemetry

/// The batches and segments that a query may have to open, as they were at one moment, with the
/// names of then.
///
/// Invariants:
/// 1. Every record that was committed by that moment is in exactly one of them: batches and
///    segments are listed in one transaction, and a batch that a segment stands for is left out.
/// 2. A segment is one row until somebody looks into it, so that a long history costs little.
///
/// About 100 bytes a row: what is kept in memory of a long history.
struct Scan {
    /// Where a row lies.
    enum Place {
        case hot
        /// A whole segment, not opened.
        case segment(SegmentRow)
        /// A batch of a segment.
        case cold(SegmentFile)
    }

    struct Row {
        var row: BatchRow
        /// True if all its matches are in `counted` already.
        var isCounted: Bool
        /// Records that pass names and levels.
        var wanted: Int
        var place = Place.hot

        var isHot: Bool { if case .hot = place { true } else { false } }

        /// What a report calls it.
        var name: BatchName {
            switch place {
            case .hot: BatchName(id: row.id)
            case .segment(let segment): BatchName(segment: segment.name)
            case .cold(let file): BatchName(segment: file.name, id: row.id)
            }
        }
    }

    private(set) var query: Query
    let catalog: Catalog
    private(set) var rows: [Row] = []
    /// Matches in batches of which that is known without opening them.
    private(set) var counted: UInt64 = 0
    /// The last store number of any batch, matching or not.
    private(set) var lastStore: UInt64 = 0
    var report = ScanReport()

    /// Lists hot batches from number `fromBatch` on, and segments, in one short read transaction.
    init(_ database: borrowing Database, _ query: Query, fromBatch: Int64 = 0) throws {
        self.query = query
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        catalog = try Catalog(database, query)
        try list(database, fromBatch)
    }

    /// Lists what `old` has listed, as it is now: what was committed since is left out.
    init(_ database: borrowing Database, again old: Scan) throws {
        query = old.query
        report = old.report
        query.conditions.stores.lower(to: Int64(clamping: old.lastStore))
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        // Segments may have new names beside the old ones.
        catalog = try Catalog(database, query)
        try list(database, 0)
        lastStore = old.lastStore
    }

    /// Leaves out what is not above a store number.
    mutating func skip(upTo store: UInt64) {
        query.conditions.stores.raise(to: Int64(clamping: store) + 1)
        rows.removeAll { $0.row.lastStore <= store }
        for index in rows.indices where rows[index].row.firstStore <= store {
            rows[index].isCounted = false
        }
    }

    private mutating func list(_ database: borrowing Database, _ fromBatch: Int64) throws {
        let compacted = try listSegments(database)
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
                try add(hot: list, compacted, database)
            }
        } catch let error as SQLiteError where error.isDamaged {
            try salvage(database, from: next, compacted)
        }
    }

    /// Lists the segments; gives the last hot batch that any of them stands for.
    private mutating func listSegments(_ database: borrowing Database) throws -> Int64 {
        guard try Schema.hasSegments(database) else { return 0 }
        let stores = query.conditions.stores
        let range = stores.isOpen ? "" : "WHERE first_store <= ? AND last_store >= ?"
        let list = try database.prepare(
            "SELECT \(SegmentRow.columns) FROM segment \(range) ORDER BY lo"
        )
        if !stores.isOpen {
            try list.bind(1, stores.last)
            try list.bind(2, stores.first)
        }
        do {
            while try list.step() {
                let segment = SegmentRow(list)
                list.withBlob(8) { add(segment.row, $0, .segment(segment)) }
            }
            return try database.integer("SELECT hi FROM segment ORDER BY lo DESC LIMIT 1") ?? 0
        } catch {
            guard error.isDamaged else { throw error }
            report.add(BatchName(segment: "list"), records: 0, reason: error.message)
            return 0
        }
    }

    /// Goes on after a damaged page by single numbers, which often finds what lies behind it.
    private mutating func salvage(
        _ database: borrowing Database,
        from first: Int64,
        _ compacted: Int64
    ) throws {
        let end = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'batch'") ?? 0
        let find = try database.prepare("SELECT \(BatchRow.columns) FROM batch WHERE id = ?")
        guard first <= end else { return }
        for id in first...min(end, first + SpoolLimits.salvageBatches) {
            defer { find.reset() }
            try find.bind(1, id)
            do {
                if try find.step() { try add(hot: find, compacted, database) }
            } catch let error as SQLiteError where error.isDamaged {
                report.add(BatchName(id: id), records: 0, reason: error.message)
            }
        }
    }

    private mutating func add(
        hot list: borrowing Statement,
        _ compacted: Int64,
        _ database: borrowing Database
    ) throws {
        let row = BatchRow(list)
        // Only a batch that could not be read stays behind what was compacted.
        if row.id <= compacted, try SegmentRow.covers(row.id, database) { return }
        list.withBlob(8) { add(row, $0, .hot) }
    }

    private mutating func add(_ row: BatchRow, _ streams: UnsafeRawBufferPointer, _ place: Place) {
        guard let found = judge(row, streams, place) else { return }
        lastStore = max(lastStore, row.lastStore)
        guard found.wanted > 0 else { return }
        if found.isCounted { counted += UInt64(found.wanted) }
        rows.append(found)
    }

    /// The batches of a segment that have to be looked at.
    ///
    /// - Throws: what SQLite says, where the file cannot be read.
    mutating func batches(of file: SegmentFile) throws -> [Row] {
        var found: [Row] = []
        let words = query.text?.wholeWords ?? []
        let filters = words.isEmpty ? [:] : try file.words()
        try file.forEach { row, streams in
            guard let judged = judge(row, streams, .cold(file)), judged.wanted > 0,
                words.allSatisfy({ WordFilter.mayHold($0, filters[row.id] ?? []) })
            else { return }
            found.append(judged)
        }
        return found
    }

    /// What a row has of what is wanted; nil where it is damaged, which is reported.
    private mutating func judge(
        _ row: BatchRow,
        _ streams: UnsafeRawBufferPointer,
        _ place: Place
    ) -> Row? {
        var found = Row(row: row, isCounted: false, wanted: 0, place: place)
        guard row.isSound(streams), let wanted = wanted(row, streams) else {
            let most = row.coldLast == nil ? SpoolLimits.batchRecords : SpoolLimits.segmentRecords
            let records = min(max(0, row.count), most)
            report.add(found.name, records: records, reason: "its row is damaged")
            return nil
        }
        let times = row.time0...row.time1
        guard query.mayWant(times: times), query.conditions.mayWant(row) else { return found }
        found.wanted = wanted
        found.isCounted =
            query.text == nil && query.wantsAll(times: times) && query.conditions.wantsAll(row)
        return found
    }

    /// How many records of a batch pass names and levels; its groups are not looked at where all
    /// do.
    ///
    /// Nil where they make no sense.
    private func wanted(_ row: BatchRow, _ streams: UnsafeRawBufferPointer) -> Int? {
        guard query.choosesGroups else { return row.count }
        guard let groups = row.groups(from: streams), catalog.knows(groups) else { return nil }
        var wanted = 0
        for group in groups where catalog.wants(group, query) { wanted += group.count }
        return wanted
    }
}
