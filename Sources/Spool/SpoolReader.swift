internal import Compression
internal import LinuxIO
internal import SQLite
public import Telemetry

/// Reads the history of a spool folder, with the agent running or not.
///
/// One thread owns it.
///
/// No read transaction is open while batches are unpacked or records are handed out, so that a slow
/// reader never holds back the checkpoints of the writer.
public struct SpoolReader: ~Copyable {
    let directory: String
    private(set) var database: Database
    private(set) var blob: Statement
    /// Gives the groups of a batch.
    private var streams: Statement
    /// True where the file is read as one that nobody changes: see `open`.
    private var isStill: Bool
    var decoder: BatchDecoder
    let cold: ColumnBatchDecoder
    let segments: SegmentFolder
    /// Segments that are open, oldest first.
    var files: [SegmentFile] = []
    /// Asked before each batch; true ends a scan as interrupted.
    var shouldStop: () -> Bool = { false }
    /// Batches that have been unpacked.
    var openedBatches: UInt64 = 0

    /// What `follow` had to skip so far.
    public internal(set) var followReport = ScanReport()

    /// Opens the spool in `directory` for reading; nothing in it is changed.
    ///
    /// - Throws: `.notFound` if there is none, `.denied`, `.newer`, `.damaged`.
    public init(directory: String) throws(SpoolError) {
        do {
            var isStill = false
            let database = try Self.open(directory, &isStill)
            let blob = try database.prepare(Self.blobByID)
            let streams = try database.prepare(Self.streamsByID)
            let decoder = try BatchDecoder()
            cold = try ColumnBatchDecoder()
            segments = SegmentFolder(spool: directory)
            self.directory = directory
            self.isStill = isStill
            self.database = database
            self.blob = blob
            self.streams = streams
            self.decoder = decoder
        } catch {
            throw SpoolError("open spool", directory, error)
        }
    }

    private static let blobByID = "SELECT data, crc, streams FROM batch WHERE id = ?"
    private static let streamsByID = "SELECT streams FROM batch WHERE id = ?"

    /// The groups of a batch, without opening it; nil where its row is gone or damaged.
    func groups(_ listed: Scan.Row) throws -> [BatchGroup]? {
        let row = listed.row
        if case .cold(let file) = listed.place { return try file.groups(row) }
        if case .segment(let segment) = listed.place {
            let find = try database.prepare("SELECT streams FROM segment WHERE name = ?")
            try find.bind(1, segment.name)
            guard try find.step() else { return nil }
            return find.withBlob(0) { row.groups(from: $0) }
        }
        defer { streams.reset() }
        try streams.bind(1, row.id)
        guard try streams.step() else { return nil }
        return streams.withBlob(0) { row.groups(from: $0) }
    }

    /// Opens anew where the file was taken as still and a writer has come since, or may have.
    mutating func refresh(always: Bool = false) throws {
        guard isStill, always || Files.size(Schema.log(directory)) > 0 else { return }
        var isStill = false
        let fresh = try Self.open(directory, &isStill)
        let statement = try fresh.prepare(Self.blobByID)
        let groups = try fresh.prepare(Self.streamsByID)
        blob = statement
        streams = groups
        database = fresh
        self.isStill = isStill
    }

    /// The books of every instance, in the order in which they were first seen.
    public func peers() throws(SpoolError) -> [PeerState] {
        var found: [PeerState] = []
        let damaged = try forEachPeer { found.append($0) }
        if let instance = damaged.first {
            throw SpoolError(
                operation: "read peers of spool",
                subject: directory,
                cause: "the books of '\(instance)' are damaged",
                kind: .damaged
            )
        }
        return found
    }

    /// Hands out the books of every instance, in the order in which they were first seen.
    ///
    /// - Returns: instances whose books are damaged; they are passed over.
    public func forEachPeer(_ body: (PeerState) -> Void) throws(SpoolError) -> [PeerInstance] {
        do {
            return try PeerRow.forEach(database, body)
        } catch {
            throw SpoolError("read peers of spool", directory, error)
        }
    }

    /// The books of one instance; nil if the spool has none.
    public func peer(_ instance: PeerInstance) throws(SpoolError) -> PeerState? {
        do {
            return try PeerRow.find(instance, database)
        } catch {
            throw SpoolError("read books in spool", directory, error)
        }
    }

    /// What retention has removed, oldest removal first.
    ///
    /// A spool of an older version tells once an agent has brought it up to date.
    public func removed() throws(SpoolError) -> [RemovedSpan] {
        do {
            return try Schema.hasAges(database) ? RemovalBook.all(database) : []
        } catch {
            throw SpoolError("read book of removals in spool", directory, error)
        }
    }

    /// Every recorded loss, in the order in which they were stored.
    public func losses() throws(SpoolError) -> [Loss] {
        do {
            let rows = try database.prepare(
                "SELECT peer, epoch, first, last, reason, time0, time1 FROM loss ORDER BY id"
            )
            var found: [Loss] = []
            while try rows.step() {
                let epoch = UInt64(bitPattern: rows.integer(1))
                let first = UInt64(bitPattern: rows.integer(2))
                let last = UInt64(bitPattern: rows.integer(3))
                let (begin, end) = (rows.integer(5), rows.integer(6))
                guard first <= last, begin <= end else { throw TruncatedColumn(name: "loss") }
                found.append(
                    Loss(
                        instance: PeerInstance(identifier: rows.text(0), epoch: epoch),
                        sequences: first...last,
                        reason: rows.text(4),
                        times: begin...end
                    )
                )
            }
            return found
        } catch {
            throw SpoolError("read losses of spool", directory, error)
        }
    }

    /// The spool in figures; from the plain columns, no batch is opened.
    public func summary() throws(SpoolError) -> SpoolSummary {
        do {
            var summary = SpoolSummary()
            try database.execute("BEGIN")
            defer { try? database.execute("COMMIT") }
            try add("count(*)", "max(first_store + n - 1), 0", "batch", to: &summary)
            if try Schema.hasSegments(database) {
                try add("total(batches)", "max(last_store), total(bytes)", "segment", to: &summary)
                let rows = try database.prepare("SELECT count(*), total(n) FROM segment")
                if try rows.step() {
                    summary.segments = UInt64(clamping: rows.integer(0))
                    summary.coldRecords = UInt64(clamping: rows.integer(1))
                }
            }
            let bytes = Files.size(Schema.database(directory)) + Files.size(Schema.log(directory))
            summary.fileBytes += UInt64(clamping: bytes)
            return summary
        } catch {
            throw SpoolError("sum up spool", directory, error)
        }
    }

    /// Adds what one table of batches or segments has.
    private func add(
        _ batches: String,
        _ lastAndBytes: String,
        _ table: String,
        to summary: inout SpoolSummary
    ) throws {
        let row = try database.prepare(
            """
            SELECT \(batches), total(n), total(raw), min(time0), max(time1), \(lastAndBytes)
            FROM \(table)
            """
        )
        guard try row.step() else { return }
        summary.batches += UInt64(clamping: row.integer(0))
        summary.records += UInt64(clamping: row.integer(1))
        summary.rawBytes += UInt64(clamping: row.integer(2))
        if !row.isNull(3) {
            summary.oldestTime = min(summary.oldestTime ?? .max, row.integer(3))
            summary.newestTime = max(summary.newestTime ?? .min, row.integer(4))
        }
        summary.lastStore = max(summary.lastStore, UInt64(clamping: row.integer(5)))
        summary.fileBytes += UInt64(clamping: row.integer(6))
    }

    private static func open(_ directory: String, _ isStill: inout Bool) throws -> Database {
        let path = Schema.database(directory)
        guard Files.exists(path) else {
            if Files.exists(directory), !Files.isReadable(directory) {
                throw SpoolError(
                    operation: "open spool",
                    subject: directory,
                    cause: "no right to read the folder",
                    hint: "run as root or as a member of the folder's group",
                    kind: .denied
                )
            }
            throw SpoolError(
                operation: "open spool",
                subject: directory,
                cause: "no hot.db in it",
                hint: "is the agent set up? --spool DIR or INTEL_SPOOL name another place",
                kind: .notFound
            )
        }
        do {
            let database = try Database(path: path, mode: .read)
            try Schema.settle(database)
            return try checked(database, directory)
        } catch let error as SQLiteError where error.isCannotOpen || error.isDenied {
            // Where the folder cannot be written, the log's index cannot be made. Without a log
            // there is nothing in it, and the file alone is the whole history.
            guard Files.isReadable(path), Files.size(Schema.log(directory)) == 0 else {
                throw denial(directory)
            }
            isStill = true
            return try checked(try Database(path: path, mode: .immutable), directory)
        }
    }

    /// Which right this user lacks.
    private static func denial(_ directory: String) -> SpoolError {
        let files = [Schema.database(directory), Schema.log(directory), Schema.index(directory)]
        let hidden = files.first { Files.exists($0) && !Files.isReadable($0) }
        var error = SpoolError(
            operation: "open spool",
            subject: directory,
            cause: "no right to read '\(Files.name(of: hidden ?? ""))' in it",
            hint: "run as root or as a member of the folder's group",
            kind: .denied
        )
        if hidden == nil {
            error.cause = "no right to write into the folder, as its log, which has no index, needs"
            error.hint = "start the agent, which was killed, or run as root"
        }
        return error
    }

    private static func checked(
        _ database: consuming Database,
        _ directory: String
    ) throws -> Database {
        if try Schema.check(database, directory) { return database }
        throw SpoolError(
            operation: "open spool",
            subject: directory,
            cause: "hot.db is still empty",
            hint: "start the agent; if this is a copy of one file, its records were in the log "
                + "beside it: 'intel spool backup' copies a spool that is in use",
            kind: .notFound
        )
    }
}
