internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// The work of a salvage: names and lists first, then segments, then the hot tier.
struct SalvageJob: ~Copyable {
    let from: SegmentFolder
    let to: SegmentFolder
    private let work: String
    /// True where the new files are to take the place of the old ones.
    let isInPlace: Bool
    /// The new hot.db.
    let out: Database
    /// The copy of the damaged one; nil where SQLite does not take it.
    private let source: SalvageSource?
    let cold: ColumnBatchDecoder
    private var hot: BatchDecoder
    var outcome = Salvage.Outcome()
    /// True if names and lists could be read to their ends.
    private var isListWhole = true

    init(
        spool: String,
        folder: String,
        work: String,
        part: String,
        isInPlace: Bool
    ) throws {
        let out = try Database(path: part, mode: .create)
        try Schema.settleWriter(out, .normal)
        try Schema.make(out)
        let cold = try ColumnBatchDecoder()
        let hot = try BatchDecoder()
        from = SegmentFolder(spool: spool)
        to = SegmentFolder(spool: folder)
        self.work = work
        self.isInPlace = isInPlace
        self.out = out
        source = SalvageSource(Schema.database(work))
        self.cold = cold
        self.hot = hot
    }

    /// Does all of it.
    mutating func run() throws -> Salvage.Outcome {
        try out.execute("BEGIN")
        // When the records came is not saved: their order tells.
        try out.execute("DELETE FROM mark")
        for table in SalvagedTable.all { try copy(table) }
        try takeNamesOfSegments()
        try saveSegments(isListWhole: isListWhole)
        try saveHot()
        try setSequence()
        try out.execute("COMMIT")
        _ = try out.checkpoint(.truncate)
        outcome.records =
            UInt64(clamping: try out.integer("SELECT coalesce(sum(n), 0) FROM batch") ?? 0)
            + UInt64(clamping: try out.integer("SELECT coalesce(sum(n), 0) FROM segment") ?? 0)
        return outcome
    }

    // MARK: Names and lists

    /// Copies a table row by row; where its tree is damaged, from any page that has rows of it.
    private mutating func copy(_ table: SalvagedTable) throws {
        let add = try out.prepare(table.insert)
        if let source {
            if table.name == "segment", (try? Schema.hasSegments(source.database)) == false {
                return
            }
            if table.name == "removed", (try? Schema.hasAges(source.database)) == false { return }
            var walk = TableWalk()
            try walk.forEach(table.name, key: table.key, last: nil, source.database) { row in
                try add.bind(row.values(table.columns))
                try add.run()
            }
            if walk.isWhole { return }
        }
        // What the book of removals says is no part of the history.
        if table.name != "removed" { isListWhole = false }
        guard let pages = try pages() else { return }
        try table.scan.forEach(in: pages) { row in
            guard row.id > 0, table.isPlausible(row) else { return false }
            try add.bind([.integer(row.id)] + row.values.dropFirst())
            try add.run()
            return true
        }
    }

    private func pages() throws -> PageFile? {
        guard Files.exists(Schema.database(work)) else { return nil }
        return try PageFile(
            Schema.database(work),
            log: Schema.log(work),
            standard: 8192
        )
    }

    /// Names that hot.db has lost stand in the segments, under the same numbers.
    private mutating func takeNamesOfSegments() throws {
        if isListWhole, !isInPlace { return }
        for name in from.names {
            guard let file = try? SegmentFile(from.file(name)) else { continue }
            var walk = TableWalk()
            let stream = try out.prepare("INSERT OR IGNORE INTO stream VALUES(?,?,?)")
            try walk.forEach("stream", last: nil, file.database) { row in
                try stream.bind(row.values(3))
                try stream.run()
            }
            try walk.forEach("instance", last: nil, file.database) { row in
                let epoch = UInt64(bitPattern: row.integer(2))
                let instance = PeerInstance(identifier: row.text(1), epoch: epoch)
                try addPeer(row.integer(0), instance, pid: row.integer(3), uid: row.integer(4))
            }
        }
    }

    /// Adds a peer without books, under a number that is free.
    private func addPeer(
        _ id: Int64,
        _ instance: PeerInstance,
        pid: Int64 = 0,
        uid: Int64 = 0
    ) throws {
        let add = try out.prepare(
            """
            INSERT OR IGNORE INTO peer_state VALUES(
              ?,?,?,0,'',?,?,\(Presence.lost.rawValue),0,0,0,0,0,0,0,\(Int64.min),?,?)
            """
        )
        try add.bind(1, id)
        try add.bind(2, instance.identifier)
        try add.bind(3, Int64(bitPattern: instance.epoch))
        try add.bind(4, pid)
        try add.bind(5, uid)
        try add.bind(6, PeerBooks.accounted(IntervalSet()))
        try add.bind(7, PeerBooks.holes([]))
        try add.run()
    }

    /// Gives names to what has none.
    mutating func ensureNames(_ streams: Set<Int64>, _ instances: Set<Int64>) throws {
        for id in streams.sorted() {
            if try out.integer("SELECT 1 FROM stream WHERE id = \(id)") != nil { continue }
            try out.execute("INSERT INTO stream VALUES(\(id), 'lost.name.\(id)', 'lost')")
            outcome.lostNames += 1
        }
        for id in instances.sorted() {
            if try out.integer("SELECT 1 FROM peer_state WHERE id = \(id)") != nil { continue }
            let epoch = UInt64(bitPattern: id)
            try addPeer(id, PeerInstance(identifier: "lost.peer.\(id)", epoch: epoch))
            outcome.lostNames += 1
        }
    }

    /// Peers that came without books.
    func bookless() throws -> Set<PeerInstance> {
        let empty = "appeared = 0 AND changed = 0 AND sent = 0 AND stored = 0"
        let list = try out.prepare("SELECT peer, epoch FROM peer_state WHERE \(empty)")
        var found: Set<PeerInstance> = []
        while try list.step() {
            let epoch = UInt64(bitPattern: list.integer(1))
            found.insert(PeerInstance(identifier: list.text(0), epoch: epoch))
        }
        return found
    }

    // MARK: The hot tier

    private mutating func saveHot() throws {
        let segments = try SegmentRow.all(out)
        let add = try out.prepare("INSERT OR IGNORE INTO batch VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
        var known: Set<Int64> = []
        /// What could not be read, until a page turns up that has it.
        var missing: [Int64: (records: Int, cause: String)] = [:]
        var isWhole = false
        if let source {
            var walk = TableWalk()
            try walk.forEach("batch", last: source.lastBatch, source.database) { row in
                let values = row.values(12)
                let id = row.integer(0)
                if let cause = try save(id, values, add) {
                    let records = Int(clamping: row.integer(5))
                    missing[id] = (min(max(0, records), SpoolLimits.batchRecords), cause)
                } else {
                    known.insert(id)
                }
            }
            for id in walk.unreadable { missing[id] = (0, "cannot be read") }
            isWhole = walk.isWhole
        }
        if !isWhole || !missing.isEmpty, let pages = try pages() {
            try SalvagedTable.hotBatches.forEach(in: pages) { row in
                if row.id <= 0 || known.contains(row.id) { return false }
                // What is left in a free page of a batch that was moved.
                if segments.contains(where: { $0.lo <= row.id && row.id <= $0.hi }) { return false }
                // In a sound tree, one that is not in it was removed.
                if isWhole, missing[row.id] == nil { return false }
                guard try save(row.id, row.values, add) == nil else { return false }
                known.insert(row.id)
                missing[row.id] = nil
                return true
            }
        }
        outcome.hotBatches = UInt64(known.count)
        if !isWhole { try findGaps(&missing) }
        for (id, lost) in missing.sorted(by: { $0.key < $1.key }) {
            outcome.lose(BatchName(id: id), records: lost.records, lost.cause)
        }
    }

    /// Adds batches that must have been between those that were saved: numbers of batches and of
    /// records follow each other in the hot tier.
    private func findGaps(_ missing: inout [Int64: (records: Int, cause: String)]) throws {
        let list = try out.prepare(
            """
            SELECT max(hi), max(last_store), 0 FROM segment HAVING count(*) > 0 UNION ALL
            SELECT * FROM (SELECT id, first_store + n - 1, n FROM batch ORDER BY id)
            """
        )
        var last: (id: Int64, store: Int64)?
        while try list.step() {
            let (id, store, count) = (list.integer(0), list.integer(1), list.integer(2))
            if let last, id > last.id + 1, id - last.id < SpoolLimits.salvageBatches {
                let between = last.id + 1..<id
                let unknown = between.filter { missing[$0] == nil }
                let told = between.reduce(0) { $0 + (missing[$1]?.records ?? 0) }
                let lost = Int(clamping: store - count - last.store) - told
                for (index, id) in unknown.enumerated() {
                    missing[id] = (index == 0 ? max(0, lost) : 0, "it is nowhere to be found")
                }
            }
            last = (max(id, last?.id ?? 0), max(store, last?.store ?? 0))
        }
        guard let last, let end = source?.lastBatch, end > last.id,
            end - last.id < SpoolLimits.salvageBatches
        else { return }
        for id in last.id + 1...end where missing[id] == nil {
            missing[id] = (0, "it is nowhere to be found")
        }
    }

    /// Puts a sound batch into the new spool; else says what is wrong with it.
    private mutating func save(
        _ id: Int64,
        _ values: [SQLValue],
        _ add: borrowing Statement
    ) throws -> String? {
        let numbers = values.map { $0.integer ?? 0 }
        guard case .blob(let streams) = values[9], case .blob(let data) = values[11] else {
            return "its row is damaged"
        }
        var row = BatchRow(firstStore: UInt64(bitPattern: numbers[7]))
        (row.id, row.t0, row.t1) = (id, numbers[1], numbers[2])
        (row.time0, row.time1) = (numbers[3], numbers[4])
        (row.count, row.raw) = (Int(numbers[5]), Int(numbers[6]))
        guard let groups = streams.withUnsafeBytes({ row.groups(from: $0) }) else {
            return "its row is damaged"
        }
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(DamagedBatch) in
                try hot.decode(
                    bytes,
                    row: row,
                    groups: groups,
                    checksum: numbers[10],
                    withPayload: true,
                    text: nil
                )
            }
        }
        do { _ = try result.get() } catch { return error.reason }
        try ensureNames(Set(groups.map(\.stream)), Set(groups.map(\.instance)))
        try add.bind([.integer(id)] + values.dropFirst())
        try add.run()
        return nil
    }

    /// No number of a batch that a segment stands for may be given again.
    private func setSequence() throws {
        let before = source?.lastBatch ?? 0
        let moved = try out.integer("SELECT max(hi) FROM segment") ?? 0
        let own = try out.integer("SELECT max(id) FROM batch") ?? 0
        let last = max(before, moved, own)
        try out.execute(
            """
            DELETE FROM sqlite_sequence WHERE name = 'batch';
            INSERT INTO sqlite_sequence(name, seq) VALUES('batch', \(last))
            """
        )
    }
}

/// The copy of a damaged hot.db, as far as SQLite takes it.
private final class SalvageSource {
    let database: Database

    /// Nil where the file is gone, or its first page cannot be read.
    init?(_ path: String) {
        guard Files.exists(path), let made = try? Database(path: path, mode: .write),
            (try? made.integer("PRAGMA application_id")) == Schema.application,
            (try? made.integer("SELECT count(*) FROM sqlite_schema")) != nil
        else { return nil }
        // What is in the log is then in the file, for whoever reads its pages.
        _ = try? made.checkpoint(.truncate)
        database = made
    }

    /// The last number that a batch got; nil where that cannot be read.
    var lastBatch: Int64? {
        try? database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'batch'")
    }
}

/// A table whose rows are copied as they are.
struct SalvagedTable {
    var name: String
    var key: String
    var columns: Int
    /// What its rows look like in a page.
    var scan: RowScan

    private init(_ name: String, _ key: String, _ scan: RowScan) {
        self.name = name
        self.key = key
        columns = scan.columns
        self.scan = scan
    }

    /// One that is there already stays.
    var insert: String {
        "INSERT OR IGNORE INTO \(name) VALUES("
            + (0..<columns).map { _ in "?" }.joined(separator: ",") + ")"
    }

    /// False for bytes that look like a row by chance: their texts are none.
    func isPlausible(_ row: RawRow) -> Bool {
        row.values.allSatisfy { value in
            guard let text = value.text else { return true }
            return text.utf8.count <= 4096
                && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0xfffd }
        }
    }

    /// All but the batches, which are unpacked first.
    static let all = [
        SalvagedTable("stream", "id", RowScan(columns: 3, texts: [1, 2])),
        SalvagedTable(
            "peer_state",
            "id",
            RowScan(columns: 18, texts: [1, 4], blobs: [16, 17])
        ),
        SalvagedTable("loss", "id", RowScan(columns: 8, texts: [1, 5])),
        SalvagedTable("segment", "lo", RowScan(columns: 14, texts: [12], blobs: [13])),
        SalvagedTable("removed", "id", RowScan(columns: 13, texts: [2, 3, 4])),
    ]

    static let hotBatches = RowScan(columns: 12, blobs: [9, 11])
    static let coldBatches = RowScan(columns: 13, blobs: [10, 12])
}

extension Statement {
    /// The first columns of a row.
    func values(_ count: Int) -> [SQLValue] {
        (0..<Int32(count)).map { value($0) }
    }

    /// Binds values to the first parameters, in their order.
    func bind(_ values: [SQLValue]) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            switch value {
            case .integer(let number): try bind(place, number)
            case .text(let text): try bind(place, text)
            case .blob(let bytes): try bind(place, bytes)
            default: try bindNull(place)
            }
        }
    }
}
