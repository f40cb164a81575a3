internal import CSQLite

/// One connection to one database file.
///
/// One thread owns it: SQLite's own mutex is off.
///
/// Statements may outlive it; the file is closed when the last of them has gone.
public struct Database: ~Copyable {
    /// How a file is opened.
    public enum Mode: Sendable {
        /// Read and write; the file is made where it is missing.
        case create
        /// Read and write a file that exists.
        case write
        /// Read only; -wal and -shm are used where they can be.
        case read
        /// Read only, as a file that nobody changes: no lock, no -wal, no -shm.
        case immutable
    }

    /// How a checkpoint goes about readers and the writer.
    public enum CheckpointMode: Sendable {
        /// Copies what can be copied without waiting for anybody.
        case passive
        /// Waits (for the busy timeout) until all is copied, then cuts the log to nothing.
        case truncate
    }

    /// What a checkpoint came to.
    public struct Checkpoint: Sendable {
        /// Frames in the log; -1 where there is no log.
        public var frames: Int
        /// Frames of it that are in the database; -1 where there is no log.
        public var copied: Int
        /// True if a reader or the writer was in the way.
        public var isBusy: Bool
    }

    let handle: OpaquePointer
    /// Asked now and then while a statement runs.
    private var watch: ProgressWatch?

    /// Opens `path`, which is taken literally and never as a URI.
    public init(path: String, mode: Mode) throws(SQLiteError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // A path that starts with "file:" would be a URI where the library was built so.
        var name = path.hasPrefix("file:") ? "./" + path : path
        switch mode {
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .write: flags |= SQLITE_OPEN_READWRITE
        case .read: flags |= SQLITE_OPEN_READONLY
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:\(Self.escaped(path))?immutable=1"
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw SQLiteError(code: code, message: message, sql: path)
        }
        handle = opened
        watch = nil
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Prepares one statement, meant to be used more than once.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var made: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil)
        guard code == SQLITE_OK, let made else { throw error(code, sql: sql) }
        return Statement(owning: made)
    }

    /// Prepares the first statement of `sql` and cuts it off; nil where only blanks and comments
    /// are left.
    public func prepare(first sql: inout Substring) throws(SQLiteError) -> Statement? {
        while !sql.isEmpty {
            let text = Array(sql.utf8)
            var made: OpaquePointer?
            var used = 0
            let code = text.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in
                    var tail: UnsafePointer<CChar>?
                    let count = Int32(clamping: text.count)
                    let code = sqlite3_prepare_v2(handle, text.baseAddress, count, &made, &tail)
                    if let tail, let start = text.baseAddress { used = tail - start }
                    return code
                }
            }
            guard code == SQLITE_OK else { throw error(code, sql: String(sql)) }
            sql = Substring(decoding: text[max(1, used)...], as: UTF8.self)
            if let made { return Statement(owning: made) }
        }
        return nil
    }

    /// True if `sql` ends with a whole statement and its semicolon, so that it can be run.
    public static func isComplete(_ sql: String) -> Bool {
        sqlite3_complete(sql) != 0
    }

    /// Asks `shouldStop` now and then while statements run; where it says true, they fail as
    /// interrupted.
    public mutating func watch(_ shouldStop: @escaping () -> Bool) {
        let made = ProgressWatch(shouldStop)
        sqlite3_progress_handler(
            handle,
            Self.watchSteps,
            { context in
                guard let context else { return 0 }
                let watch = Unmanaged<ProgressWatch>.fromOpaque(context).takeUnretainedValue()
                return watch.shouldStop() ? 1 : 0
            },
            Unmanaged.passUnretained(made).toOpaque()
        )
        watch = made
    }

    /// Steps of SQLite's machine between two questions: some tens of microseconds.
    private static let watchSteps: Int32 = 4096

    /// Runs one or more statements that give no rows, or whose rows do not matter.
    public func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, sql: sql) }
    }

    /// The first column of the first row as an integer; nil where there is no row.
    public func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// How long a call waits for a lock of another connection.
    public func setBusyTimeout(milliseconds: Int32) {
        sqlite3_busy_timeout(handle, milliseconds)
    }

    /// True while a transaction is open.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Copies the write-ahead log into the database; somebody in the way is no error.
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
        var log: Int32 = -1
        var copied: Int32 = -1
        let how = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(handle, nil, how, &log, &copied)
        let isBusy = code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED
        if code != SQLITE_OK, !isBusy { throw error(code, sql: "checkpoint") }
        return Checkpoint(frames: Int(log), copied: Int(copied), isBusy: isBusy)
    }

    func error(_ code: Int32, sql: String) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }

    /// Percent-escapes what has a meaning in a URI.
    private static func escaped(_ path: String) -> String {
        var out = ""
        for character in path {
            switch character {
            case "%": out += "%25"
            case "?": out += "%3f"
            case "#": out += "%23"
            default: out.append(character)
            }
        }
        return out
    }
}

/// Keeps what a progress handler asks.
private final class ProgressWatch {
    let shouldStop: () -> Bool

    init(_ shouldStop: @escaping () -> Bool) {
        self.shouldStop = shouldStop
    }
}
