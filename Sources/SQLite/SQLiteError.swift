internal import CSQLite

/// A call to SQLite that failed: its result code, its words, and the statement.
///
/// Bound values are kept out of it, so that no payload reaches a log through an error.
public struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The extended result code, such as 266 (SQLITE_IOERR_READ).
    public var code: Int32
    /// SQLite's words: `database or disk is full`.
    public var message: String
    /// The statement, or the path where a file was opened.
    public var sql: String

    /// An error as given.
    public init(code: Int32, message: String, sql: String) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// The low byte of the code: the primary result code.
    public var primary: Int32 { code & 0xff }
    /// True where another connection holds the lock (SQLITE_BUSY, SQLITE_LOCKED).
    public var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }
    /// True where the disk is full (SQLITE_FULL).
    public var isFull: Bool { primary == SQLITE_FULL }
    /// True where the file is damaged or no database (SQLITE_CORRUPT, SQLITE_NOTADB).
    public var isDamaged: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }
    /// True where the disk does not give its bytes (SQLITE_IOERR).
    public var isUnreadable: Bool { primary == SQLITE_IOERR }
    /// True where the file cannot be opened (SQLITE_CANTOPEN).
    public var isCannotOpen: Bool { primary == SQLITE_CANTOPEN }
    /// True where rights are missing (SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH).
    public var isDenied: Bool {
        primary == SQLITE_PERM || primary == SQLITE_READONLY || primary == SQLITE_AUTH
    }

    /// True where an interrupted change has to be taken back first, which a connection that only
    /// reads cannot do (SQLITE_READONLY_ROLLBACK).
    public var needsRollback: Bool { code == SQLITE_READONLY | 3 << 8 }

    /// What a statement ends with that was told to stop.
    public static var interrupted: SQLiteError {
        SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted", sql: "")
    }

    /// True where the statement was stopped from outside (SQLITE_INTERRUPT).
    public var isInterrupted: Bool { primary == SQLITE_INTERRUPT }

    /// `database or disk is full (sqlite 13)`.
    public var description: String { "\(message) (sqlite \(code))" }
}
