internal import SQLite

/// What retention has removed: the book of it in hot.db.
///
/// Removals of one hour with one reason share a row, so that the book stays small.
public struct RemovedSpan: Equatable, Sendable {
    /// When, ns since 1970: the last time.
    public var removedAt: Int64 = 0
    /// Why.
    public var reason = RemovalReason.age
    /// Records.
    public var records: UInt64 = 0
    /// Bytes on the disk.
    public var bytes: UInt64 = 0
    /// Bounds of their store numbers.
    public var stores: ClosedRange<UInt64> = 0...0
    /// Bounds of their event times, ns since 1970.
    public var times: ClosedRange<Int64> = 0...0
}

enum RemovalBook {
    /// Removals within this time share a row, ns.
    private static let together: Int64 = 3_600_000_000_000

    static let table = """
        CREATE TABLE removed(
          id INTEGER PRIMARY KEY, at INT NOT NULL, since INT NOT NULL, reason TEXT NOT NULL,
          n INT NOT NULL, bytes INT NOT NULL, first_store INT NOT NULL, last_store INT NOT NULL,
          time0 INT NOT NULL, time1 INT NOT NULL);
        """

    /// Notes a removal; in the caller's transaction.
    static func note(_ span: RemovedSpan, _ database: borrowing Database) throws(SQLiteError) {
        let join = try database.prepare(
            """
            UPDATE removed SET at = ?1, n = n + ?3, bytes = bytes + ?4,
              first_store = min(first_store, ?5), last_store = max(last_store, ?6),
              time0 = min(time0, ?7), time1 = max(time1, ?8)
            WHERE id = (SELECT max(id) FROM removed) AND reason = ?2
              AND since BETWEEN ?1 - \(together) AND ?1
            RETURNING id
            """
        )
        try bind(span, join)
        if try join.step() {
            // A statement that returns rows does its work as it is stepped to its end.
            while try join.step() {}
            return
        }
        let add = try database.prepare(
            """
            INSERT INTO removed(at, since, reason, n, bytes, first_store, last_store, time0, time1)
            VALUES(?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """
        )
        try bind(span, add)
        try add.run()
    }

    private static func bind(_ span: RemovedSpan, _ statement: borrowing Statement)
        throws(SQLiteError)
    {
        try statement.bind(1, span.removedAt)
        try statement.bind(2, span.reason.rawValue)
        try statement.bind(3, Int64(clamping: span.records))
        try statement.bind(4, Int64(clamping: span.bytes))
        try statement.bind(5, Int64(bitPattern: span.stores.lowerBound))
        try statement.bind(6, Int64(bitPattern: span.stores.upperBound))
        try statement.bind(7, span.times.lowerBound)
        try statement.bind(8, span.times.upperBound)
    }

    /// All of the book, oldest first.
    static func all(_ database: borrowing Database) throws(SQLiteError) -> [RemovedSpan] {
        let list = try database.prepare(
            """
            SELECT at, reason, n, bytes, first_store, last_store, time0, time1
            FROM removed ORDER BY id
            """
        )
        var found: [RemovedSpan] = []
        while try list.step() {
            var span = RemovedSpan()
            span.removedAt = list.integer(0)
            span.reason = RemovalReason(rawValue: list.text(1)) ?? .age
            span.records = UInt64(clamping: list.integer(2))
            span.bytes = UInt64(clamping: list.integer(3))
            let (first, last) = (list.integer(4), list.integer(5))
            span.stores = range(UInt64(bitPattern: first), UInt64(bitPattern: last))
            span.times = range(list.integer(6), list.integer(7))
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
}
