internal import Compression
internal import LinuxIO
internal import SQLite

/// An operation on the spool that failed: what, on what, why, and what can be done.
public struct SpoolError: Error, CustomStringConvertible, Sendable {
    /// What sort of failure it is, for callers that act on it.
    public enum Kind: Equatable, Sendable {
        /// There is no spool at this place.
        case notFound
        /// The rights of this user do not reach.
        case denied
        /// Another writer has it; its process, where that is known.
        case locked(pid: Int32?)
        /// A newer version of the program made it.
        case newer
        /// The file is damaged, or no spool.
        case damaged
        /// The disk is full.
        case full
        /// Anything else.
        case other
    }

    /// What was tried, as a verb: `open spool`.
    public var operation: String
    /// What it was tried on: a path.
    public var subject: String
    /// Why it failed.
    public var cause: String
    /// What to do about it, where that is known.
    public var hint: String?
    /// What sort of failure it is.
    public var kind: Kind

    /// An error as given.
    public init(
        operation: String,
        subject: String,
        cause: String,
        hint: String? = nil,
        kind: Kind = .other
    ) {
        self.operation = operation
        self.subject = subject
        self.cause = cause
        self.hint = hint
        self.kind = kind
    }

    /// `open spool '/var/lib/intel/spool': no such folder`.
    public var description: String { "\(operation) '\(subject)': \(cause)" }

    /// Puts an error of the rooms below into this room's words; one of its own stays as it is.
    init(_ operation: String, _ subject: String, _ error: any Error) {
        if let own = error as? SpoolError {
            self = own
            return
        }
        self.init(operation: operation, subject: subject, cause: "\(error)")
        if let sqlite = error as? SQLiteError {
            kind = Self.kind(of: sqlite)
        } else if let system = error as? SystemError {
            cause = "\(system.reason) (errno \(system.code))"
            if system.isNotFound { kind = .notFound }
            if system.isDenied { kind = .denied }
            if system.isDiskFull { kind = .full }
        } else if error is TruncatedColumn {
            kind = .damaged
        }
        switch kind {
        case .full: hint = "free some space; nothing of this batch was stored"
        case .denied: hint = "run as root or as a member of the folder's group"
        case .damaged: hint = "'intel spool salvage' makes a new spool of what can be read"
        default: break
        }
    }

    private static func kind(of error: SQLiteError) -> Kind {
        if error.isFull { return .full }
        if error.isDamaged { return .damaged }
        if error.isDenied { return .denied }
        return .other
    }
}

/// A column of the books whose bytes do not make sense.
struct TruncatedColumn: Error, CustomStringConvertible {
    var name: String
    var description: String { "column '\(name)' is damaged" }
}
