internal import LinuxIO
internal import SQLite

/// The files of a spool folder, and the tables and settings of hot.db.
enum Schema {
    /// "inte": tells hot.db from other SQLite files.
    static let application: Int64 = 0x696E_7465
    /// The version of tables and batches; a file with a higher one is left alone.
    static let version: Int64 = 3
    /// The first version with segments; a file of an older one is read without.
    private static let segmentsVersion: Int64 = 2
    /// The first version whose book of removals tells peers and kinds apart, and that knows ages.
    private static let agesVersion: Int64 = 3

    static func database(_ directory: String) -> String { directory + "/hot.db" }
    static func log(_ directory: String) -> String { directory + "/hot.db-wal" }
    static func index(_ directory: String) -> String { directory + "/hot.db-shm" }
    static func lock(_ directory: String) -> String { directory + "/lock" }

    /// `data` is the last column so that scans of the others do not walk overflow chains.
    static let tables = """
        CREATE TABLE peer_state(
          id INTEGER PRIMARY KEY, peer TEXT NOT NULL, epoch INT NOT NULL,
          fingerprint INT NOT NULL, apikey TEXT NOT NULL, pid INT NOT NULL, uid INT NOT NULL,
          presence INT NOT NULL, appeared INT NOT NULL, changed INT NOT NULL,
          last_seen INT NOT NULL, sent INT NOT NULL, stored INT NOT NULL,
          collapsed INT NOT NULL, dropped INT NOT NULL, last_order INT NOT NULL,
          accounted BLOB NOT NULL, holes BLOB NOT NULL, UNIQUE(peer, epoch));
        CREATE TABLE stream(
          id INTEGER PRIMARY KEY, peer TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE(peer, kind));
        CREATE TABLE batch(
          id INTEGER PRIMARY KEY AUTOINCREMENT, t0 INT NOT NULL, t1 INT NOT NULL,
          time0 INT NOT NULL, time1 INT NOT NULL, n INT NOT NULL, raw INT NOT NULL,
          first_store INT NOT NULL, fmt INT NOT NULL, streams BLOB NOT NULL,
          crc INT NOT NULL, data BLOB NOT NULL);
        CREATE TABLE loss(
          id INTEGER PRIMARY KEY, peer TEXT NOT NULL, epoch INT NOT NULL,
          first INT NOT NULL, last INT NOT NULL, reason TEXT NOT NULL,
          time0 INT NOT NULL, time1 INT NOT NULL);
        """ + segmentTables

    /// What came with version 2: the list of segments and of the files that are to go.
    private static let segmentTables = """
        CREATE TABLE segment(
          lo INTEGER PRIMARY KEY, t0 INT NOT NULL, t1 INT NOT NULL,
          time0 INT NOT NULL, time1 INT NOT NULL, n INT NOT NULL, raw INT NOT NULL,
          first_store INT NOT NULL, last_store INT NOT NULL, hi INT NOT NULL,
          batches INT NOT NULL, bytes INT NOT NULL, name TEXT NOT NULL UNIQUE,
          streams BLOB NOT NULL);
        CREATE TABLE removal(name TEXT PRIMARY KEY) WITHOUT ROWID;
        """ + ageTables

    /// What came with version 3: the book of what was removed, and what is known of ages.
    private static let ageTables = RemovalBook.table + AgeBook.tables

    /// Brings the tables of an older file up to date, in one transaction.
    static func migrate(_ database: borrowing Database) throws(SQLiteError) {
        try database.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            if try !hasSegments(database) {
                try database.execute("\(segmentTables) PRAGMA user_version=\(version);")
            } else if try !hasAges(database) {
                try RemovalBook.setAside(database)
                try database.execute("\(ageTables) PRAGMA user_version=\(version);")
                try RemovalBook.takeOver(database)
            }
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// True if the file has the list of segments.
    static func hasSegments(_ database: borrowing Database) throws(SQLiteError) -> Bool {
        try database.integer("PRAGMA user_version") ?? 0 >= segmentsVersion
    }

    /// True if the file has the book of removals by peer and kind, and that of ages.
    static func hasAges(_ database: borrowing Database) throws(SQLiteError) -> Bool {
        try database.integer("PRAGMA user_version") ?? 0 >= agesVersion
    }

    /// Settings of every connection.
    ///
    /// Debian's secure_delete would write each freed page.
    static func settle(_ database: borrowing Database) throws(SQLiteError) {
        database.setBusyTimeout(milliseconds: SpoolLimits.busyTimeout)
        try database.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON")
    }

    /// Settings of a connection that writes.
    static func settleWriter(
        _ database: borrowing Database,
        _ durability: Durability
    ) throws(SQLiteError) {
        try settle(database)
        try database.execute(
            """
            PRAGMA synchronous=\(durability == .full ? "FULL" : "NORMAL");
            PRAGMA secure_delete=OFF; PRAGMA wal_autocheckpoint=0;
            PRAGMA journal_size_limit=16777216;
            """
        )
    }

    /// Makes an empty file a spool; page size and vacuum mode must come before the first table.
    static func make(_ database: borrowing Database) throws(SQLiteError) {
        try database.execute(
            """
            PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;
            BEGIN IMMEDIATE; PRAGMA application_id=\(application); PRAGMA user_version=\(version);
            \(tables)
            \(AgeBook.beginning)
            COMMIT;
            """
        )
    }

    /// What a file says of itself.
    enum Identity { case empty, ours, newer(Int64), foreign }

    static func identity(_ database: borrowing Database) throws(SQLiteError) -> Identity {
        let found = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        if found == application {
            if version > Self.version { return .newer(version) }
            return version > 0 ? .ours : .foreign
        }
        let tables = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        return found == 0 && version == 0 && tables == 0 ? .empty : .foreign
    }

    /// Refuses what is newer or foreign; false where the file is still empty.
    static func check(_ database: borrowing Database, _ directory: String) throws -> Bool {
        switch try identity(database) {
        case .ours: return true
        case .empty: return false
        case .newer(let version):
            throw SpoolError(
                operation: "open spool",
                subject: directory,
                cause: "made by a newer intel (format \(version), known up to \(Self.version))",
                hint: "use that version; nothing was changed",
                kind: .newer
            )
        case .foreign:
            throw SpoolError(
                operation: "open spool",
                subject: directory,
                cause: "hot.db is no spool of intel",
                hint: "choose another folder",
                kind: .damaged
            )
        }
    }
}
