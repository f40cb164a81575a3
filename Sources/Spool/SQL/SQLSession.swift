public import SQLite
internal import Telemetry

/// SQL over one spool: a database in memory in which the spool's tables are there by name.
///
/// One thread owns it.
public struct SQLSession: ~Copyable {
    private var database: Database
    private let watch: SQLWatch

    /// Opens the spool in `directory`; nothing in it is ever changed.
    ///
    /// - Parameter shouldStop: asked now and then while a statement runs; true ends it.
    public init(
        directory: String,
        shouldStop: @escaping () -> Bool = { false }
    ) throws(SpoolError) {
        do {
            let watch = SQLWatch()
            watch.shouldStop = shouldStop
            var database = try Database(path: ":memory:", mode: .create)
            // Opened here, so that a failure has this room's words and not SQLite's.
            let source = try SpoolSource(directory, watch)
            try VirtualModule.register(
                SpoolTables.module,
                on: database,
                SpoolTables.maker(watch, [directory: source])
            )
            let folder =
                "'"
                + directory.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "''") + "'"
            for name in SpoolTables.names {
                try database.execute(
                    "CREATE VIRTUAL TABLE \(name) USING \(SpoolTables.module)(\(folder), \(name))"
                )
            }
            database.watch(shouldStop)
            self.database = database
            self.watch = watch
        } catch {
            throw SpoolError("open spool", directory, error)
        }
    }

    /// Damaged batches that statements have passed over so far.
    public var report: ScanReport { watch.report }
    /// Peers whose books are damaged and that statements have passed over so far, as text.
    public var damagedPeers: [String] { watch.damagedPeers.map(\.description).sorted() }
    /// Batches that statements have unpacked so far.
    public var openedBatches: UInt64 { watch.opened }

    /// True if `sql` ends with a whole statement.
    public static func isComplete(_ sql: String) -> Bool {
        Database.isComplete(sql)
    }

    /// Runs the first statement of `sql`, which is cut off, and hands its rows to `body`.
    ///
    /// - Parameters:
    ///   - header: gets the names of the columns, once, if the statement gives rows at all.
    ///   - body: gets each row; false ends the statement.
    /// - Returns: false where nothing but blanks and comments was left.
    public mutating func run(
        first sql: inout Substring,
        header: ([String]) -> Void,
        _ body: ([SQLValue]) -> Bool
    ) throws(SQLiteError) -> Bool {
        guard let statement = try database.prepare(first: &sql) else { return false }
        let count = statement.columnCount
        if count > 0 { header((0..<count).map { statement.name($0) }) }
        while try statement.step() {
            if !body((0..<count).map { statement.value($0) }) { break }
        }
        return true
    }
}
