internal import SQLite
internal import Telemetry

/// What hot.db knows of ages: which records were stored by when, on the clock of ages.
///
/// Times of records themselves do not serve: a clock may have stood in 1970 when one came.
enum AgeBook {
    /// A mark: all records before `store` were there at `at`.
    static let tables = """
        CREATE TABLE mark(store INTEGER PRIMARY KEY, at INT NOT NULL);
        CREATE TABLE clock(id INTEGER PRIMARY KEY, at INT NOT NULL, ahead INT NOT NULL);
        """

    /// The first mark of a new spool: all that comes is marked.
    static let beginning = "INSERT INTO mark VALUES(1, \(Int64.min));"

    /// How far apart the clock is stored where no mark is made, ns.
    private static let storeInterval: Int64 = 3_600_000_000_000

    /// The clock as it was stored.
    static func state(_ database: borrowing Database) throws(SQLiteError) -> AgeClock.State? {
        let find = try database.prepare("SELECT at, ahead FROM clock WHERE id = 1")
        guard try find.step() else { return nil }
        return AgeClock.State(time: find.integer(0), ahead: UInt64(clamping: find.integer(1)))
    }

    /// Makes a mark behind all records, where there are new ones, and stores the clock.
    static func note(
        _ state: AgeClock.State,
        _ database: borrowing Database
    ) throws {
        let last = try lastStore(database)
        let marked = UInt64(clamping: try database.integer("SELECT max(store) FROM mark") ?? 0)
        let old = try self.state(database)
        let isNew = last >= marked
        let isOld = old.map { state.time.before(UInt64(storeInterval)) ?? .min >= $0.time } ?? true
        guard isNew || isOld || state.ahead != old?.ahead else { return }
        let ahead = Int64(clamping: state.ahead)
        try database.inTransaction {
            try database.execute(
                "INSERT OR REPLACE INTO clock VALUES(1, \(state.time), \(ahead))"
            )
            guard isNew else { return }
            try database.execute("INSERT INTO mark VALUES(\(last + 1), \(state.time))")
        }
    }

    /// All records below this were there by `time`; 0 where nothing is known of that time.
    static func floor(_ time: Int64, _ database: borrowing Database) throws(SQLiteError) -> UInt64 {
        UInt64(
            clamping: try database.integer("SELECT max(store) FROM mark WHERE at <= \(time)") ?? 0
        )
    }

    /// Nothing is known of records before this: they are from before there were marks.
    static func begin(_ database: borrowing Database) throws(SQLiteError) -> UInt64 {
        UInt64(clamping: try database.integer("SELECT min(store) FROM mark") ?? .max)
    }

    /// Thins the marks out: between two of them lies at the most about a hundredth of their age.
    ///
    /// Ten years need some thousands. Of those before `first`, the oldest record, one is left.
    static func thin(
        before first: UInt64,
        now: Int64,
        _ database: borrowing Database
    ) throws {
        var marks: [(store: Int64, at: Int64)] = []
        let list = try database.prepare("SELECT store, at FROM mark ORDER BY store")
        while try list.step() { marks.append((list.integer(0), list.integer(1))) }
        guard marks.count >= 3 else { return }
        var going: [Int64] = []
        var before = marks[0]
        for (mark, next) in zip(marks[1...], marks[2...]) {
            let age = max(0, now.before(UInt64(clamping: next.at)) ?? 0)
            let gap = next.at.before(UInt64(clamping: before.at)) ?? .max
            if gap < age / 128 || UInt64(clamping: next.store) <= first {
                going.append(mark.store)
            } else {
                before = mark
            }
        }
        guard going.count >= 64 else { return }
        let remove = try database.prepare("DELETE FROM mark WHERE store = ?")
        try database.inTransaction {
            for store in going {
                try remove.bind(1, store)
                try remove.run()
            }
        }
    }

    /// The last store number given, as far as a sound row tells.
    private static func lastStore(_ database: borrowing Database) throws -> UInt64 {
        let cold = UInt64(
            clamping: try database.integer("SELECT max(last_store) FROM segment") ?? 0
        )
        let rows = try database.prepare("SELECT \(BatchRow.columns) FROM batch ORDER BY id DESC")
        while try rows.step() {
            let row = BatchRow(rows)
            if rows.withBlob(8, { row.isSound($0) }) { return max(cold, row.lastStore) }
        }
        return cold
    }
}
