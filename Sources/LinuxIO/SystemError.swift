internal import Glibc

/// A system call that failed: what was tried, on what, and the kernel's reason.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was tried, as a verb: `connect`.
    public var operation: String
    /// What it was tried on, such as a path; may be empty.
    public var subject: String
    /// The errno value.
    public var code: Int32

    /// A failure with a known errno value.
    public init(_ operation: String, _ subject: String, code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// A failure with the calling thread's current errno: create it before any other call.
    public init(_ operation: String, _ subject: String = "") {
        self.init(operation, subject, code: errno)
    }

    /// An answer that did not come in time: ETIMEDOUT.
    public static func timedOut(_ operation: String, _ subject: String) -> SystemError {
        SystemError(operation, subject, code: ETIMEDOUT)
    }

    /// The kernel's reason in words: `No such file or directory`.
    public var reason: String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }

    /// `connect '/run/intel/bus.sock': Connection refused (errno 111)`.
    public var description: String {
        "\(operation)\(subject.isEmpty ? "" : " '\(subject)'"): \(reason) (errno \(code))"
    }

    /// True for "try again later": EAGAIN.
    public var wouldBlock: Bool { code == EAGAIN }
    /// True where the path does not exist.
    public var isNotFound: Bool { code == ENOENT }
    /// True where a part of the path that should be a folder is none.
    public var isNoFolder: Bool { code == ENOTDIR }
    /// True where the kernel refused for lack of rights: EACCES or EPERM.
    public var isDenied: Bool { code == EACCES || code == EPERM }
    /// True where nobody listens any more, or never did.
    public var isNobodyThere: Bool { code == ECONNREFUSED || code == ENOENT || code == EPIPE }
    /// True where a reader has closed its end of the pipe.
    public var isBrokenPipe: Bool { code == EPIPE }
    /// True where the disk is full or over quota.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
}
