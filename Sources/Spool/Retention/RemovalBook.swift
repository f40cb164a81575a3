internal import SQLite
internal import Telemetry

/// What retention has removed of one peer and kind: a row of the book of it in hot.db.
///
/// Removals of one day with one reason share a row. Of a segment that went as a whole, and of rows
/// that share, the bounds are those of all of it.
public struct RemovedSpan: Equatable, Sendable {
    /// Whose records; empty where that is not known any more.
    public var peer = ""
    /// What sort of records; empty where that is not known any more.
    public var kind = ""
    /// Why.
    public var reason = RemovalReason.age
    /// When the first of them were removed, ns since 1970.
    public var since: Int64 = 0
    /// When the last of them were removed, ns since 1970.
    public var removedAt: Int64 = 0
    /// Records.
    public var records: UInt64 = 0
    /// Bytes on the disk, as far as they can be told apart.
    public var bytes: UInt64 = 0
    /// Bounds of their store numbers.
    public var stores: ClosedRange<UInt64> = 0...0
    /// Bounds of their event times, ns since 1970.
    public var times: ClosedRange<Int64> = 0...0

    /// Takes another removal with the same reason in.
    mutating func join(_ other: RemovedSpan) {
        since = min(since, other.since)
        removedAt = max(removedAt, other.removedAt)
        records += other.records
        bytes += other.bytes
        stores = stores.joined(other.stores)
        times = times.joined(other.times)
    }
}

enum RemovalBook {
    /// Removals within this time share a row, ns.
    private static let together: Int64 = 86_400_000_000_000

    /// `day` is -1 for what was added up.
    static let table = """
        CREATE TABLE removed(
          id INTEGER PRIMARY KEY, day INT NOT NULL, peer TEXT NOT NULL, kind TEXT NOT NULL,
          reason TEXT NOT NULL, since INT NOT NULL, at INT NOT NULL, n INT NOT NULL,
          bytes INT NOT NULL, first_store INT NOT NULL, last_store INT NOT NULL,
          time0 INT NOT NULL, time1 INT NOT NULL, UNIQUE(peer, kind, reason, day));
        """

    private static let columns =
        "peer, kind, reason, since, at, n, bytes, first_store, last_store, time0, time1"

    private static let join = """
        ON CONFLICT(peer, kind, reason, day) DO UPDATE SET
          since = min(since, excluded.since), at = max(at, excluded.at), n = n + excluded.n,
          bytes = bytes + excluded.bytes, first_store = min(first_store, excluded.first_store),
          last_store = max(last_store, excluded.last_store), time0 = min(time0, excluded.time0),
          time1 = max(time1, excluded.time1)
        """

    /// Notes removals; in the caller's transaction.
    static func note(_ spans: [RemovedSpan], _ database: borrowing Database) throws(SQLiteError) {
        let add = try database.prepare(
            "INSERT INTO removed(day, \(columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) \(join)"
        )
        for span in spans {
            try add.bind(1, max(0, span.removedAt / together))
            try add.bind(2, span.peer)
            try add.bind(3, span.kind)
            try add.bind(4, span.reason.rawValue)
            try add.bind(5, span.since)
            try add.bind(6, span.removedAt)
            try add.bind(7, Int64(clamping: span.records))
            try add.bind(8, Int64(clamping: span.bytes))
            try add.bind(9, Int64(bitPattern: span.stores.lowerBound))
            try add.bind(10, Int64(bitPattern: span.stores.upperBound))
            try add.bind(11, span.times.lowerBound)
            try add.bind(12, span.times.upperBound)
            try add.run()
        }
    }

    /// Adds the older half of a long book up, so that it grows with peers and kinds only.
    static func fold(
        beyond rows: Int = Limits.removedRowsMax,
        _ database: borrowing Database
    ) throws {
        let dated = "FROM removed WHERE day >= 0"
        let count = try database.integer("SELECT count(*) \(dated)") ?? 0
        guard count > rows else { return }
        let middle = "SELECT day \(dated) ORDER BY day LIMIT 1 OFFSET \(count / 2)"
        guard let day = try database.integer(middle) else { return }
        try database.inTransaction {
            try database.execute(
                """
                INSERT INTO removed(day, \(columns))
                  SELECT -1, peer, kind, reason, min(since), max(at), sum(n), sum(bytes),
                    min(first_store), max(last_store), min(time0), max(time1)
                  \(dated) AND day <= \(day) GROUP BY peer, kind, reason \(join);
                DELETE FROM removed WHERE day BETWEEN 0 AND \(day);
                """
            )
        }
    }

    /// All of the book, oldest first.
    static func all(_ database: borrowing Database) throws(SQLiteError) -> [RemovedSpan] {
        let list = try database.prepare("SELECT \(columns) FROM removed ORDER BY since, id")
        var found: [RemovedSpan] = []
        while try list.step() {
            var span = RemovedSpan()
            span.peer = list.text(0)
            span.kind = list.text(1)
            span.reason = RemovalReason(rawValue: list.text(2)) ?? .age
            span.since = list.integer(3)
            span.removedAt = list.integer(4)
            span.records = UInt64(clamping: list.integer(5))
            span.bytes = UInt64(clamping: list.integer(6))
            let (first, last) = (list.integer(7), list.integer(8))
            span.stores = range(UInt64(bitPattern: first), UInt64(bitPattern: last))
            span.times = range(list.integer(9), list.integer(10))
            found.append(span)
        }
        return found
    }

    /// A damaged file must not stop a reader.
    private static func range<Bound: Comparable>(_ one: Bound, _ other: Bound)
        -> ClosedRange<Bound>
    {
        min(one, other)...max(one, other)
    }

    // MARK: The book of version 2, which knew no peers and kinds

    /// Gives an older book another name.
    static func setAside(_ database: borrowing Database) throws(SQLiteError) {
        let find = "SELECT 1 FROM sqlite_schema WHERE name = 'removed'"
        guard try database.integer(find) != nil else { return }
        try database.execute("ALTER TABLE removed RENAME TO removed_before")
    }

    /// Copies what an older book says.
    static func takeOver(_ database: borrowing Database) throws(SQLiteError) {
        let find = "SELECT 1 FROM sqlite_schema WHERE name = 'removed_before'"
        guard try database.integer(find) != nil else { return }
        try database.execute(
            """
            INSERT INTO removed(day, \(columns))
              SELECT max(0, at / \(together)), '', '', reason, since, at, n, bytes, first_store,
                last_store, time0, time1
              FROM removed_before WHERE true \(join);
            DROP TABLE removed_before;
            """
        )
    }
}

extension ClosedRange {
    /// The least range that holds both.
    func joined(_ other: ClosedRange) -> ClosedRange {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}
