internal import SQLite

/// A segment as hot.db lists it: what can be known of it without opening the file.
struct SegmentRow: Equatable {
    /// The file's name in the folder of segments.
    var name: String
    /// The plain columns; its number is that of the first hot batch that the segment stands for.
    var row: BatchRow
    /// The last hot batch that it stands for.
    var hi: Int64
    /// Batches in it.
    var batches: Int
    /// Bytes of the file.
    var bytes: Int64

    /// The first hot batch that it stands for.
    var lo: Int64 { row.id }

    /// The columns in the order of `init(_:)`; groups are number 8.
    static let columns =
        "lo, t0, t1, time0, time1, n, raw, first_store, streams, last_store, hi, batches, bytes, "
        + "name"

    init(name: String, row: BatchRow, hi: Int64, batches: Int, bytes: Int64) {
        self.name = name
        self.row = row
        self.hi = hi
        self.batches = batches
        self.bytes = bytes
    }

    /// A row of a statement that selects `columns`.
    init(_ row: borrowing Statement) {
        self.row = BatchRow(cold: row)
        hi = row.integer(10)
        batches = Int(clamping: row.integer(11))
        bytes = row.integer(12)
        name = row.text(13)
    }

    /// Puts the segment on the list of hot.db.
    func insert(_ groups: [BatchGroup], _ database: borrowing Database) throws(SQLiteError) {
        try insert(streams: row.streams(groups), database)
    }

    /// Puts it there with the bytes of its groups.
    func insert(streams: [UInt8], _ database: borrowing Database) throws(SQLiteError) {
        let add = try database.prepare(
            "INSERT INTO segment(\(Self.columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        )
        try row.bindCold(add, streams)
        try add.bind(11, hi)
        try add.bind(12, Int64(batches))
        try add.bind(13, bytes)
        try add.bind(14, name)
        try add.run()
    }

    /// True if a listed segment stands for a hot batch.
    static func covers(_ batch: Int64, _ database: borrowing Database) throws(SQLiteError) -> Bool {
        let find = try database.prepare(
            "SELECT hi FROM segment WHERE lo <= ? ORDER BY lo DESC LIMIT 1"
        )
        try find.bind(1, batch)
        return try find.step() && find.integer(0) >= batch
    }

    /// Every listed segment, oldest first.
    static func all(_ database: borrowing Database) throws(SQLiteError) -> [SegmentRow] {
        let list = try database.prepare("SELECT \(columns) FROM segment ORDER BY lo")
        var found: [SegmentRow] = []
        while try list.step() { found.append(SegmentRow(list)) }
        return found
    }
}

extension BatchRow {
    /// What its records take while they are compacted.
    var weight: Int {
        // A damaged row may say anything.
        min(max(0, raw), 1 << 40)
            + min(max(0, count), SpoolLimits.segmentRecords) * SpoolLimits.recordBytes
    }

    /// Binds the plain columns of a cold batch or a segment to parameters 1 to 10.
    func bindCold(_ statement: borrowing Statement, _ streams: [UInt8]) throws(SQLiteError) {
        try statement.bind(1, id)
        try statement.bind(2, t0)
        try statement.bind(3, t1)
        try statement.bind(4, time0)
        try statement.bind(5, time1)
        try statement.bind(6, Int64(count))
        try statement.bind(7, Int64(raw))
        try statement.bind(8, Int64(bitPattern: firstStore))
        try statement.bind(9, streams)
        try statement.bind(10, Int64(bitPattern: lastStore))
    }
}
