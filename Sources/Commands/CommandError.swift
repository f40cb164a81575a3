/// What every command's exit status means (CLI.md); scripts rely on the numbers.
enum ExitStatus {
    /// Found, or done.
    ///
    /// A reader that closes its pipe is success as well.
    static let success: Int32 = 0
    /// Nothing matched, or something is missing.
    static let nothing: Int32 = 1
    /// Wrong usage, or an error.
    static let failure: Int32 = 2
    /// Partial: damaged or unreadable batches were skipped and named on stderr.
    static let partial: Int32 = 3
    /// Not allowed to read what was asked for.
    static let denied: Int32 = 4
    /// The history does not reach that far.
    static let tooOld: Int32 = 5
}

/// Why a command ends without having done its work: one line for stderr, a hint, and the status.
struct CommandError: Error, Equatable, CustomStringConvertible {
    /// Operation, subject and cause; lower case, no full stop.
    var message: String
    /// What to do about it.
    var hint: String?
    /// The exit status.
    var status: Int32

    init(_ message: String, hint: String? = nil, status: Int32 = ExitStatus.failure) {
        self.message = message
        self.hint = hint
        self.status = status
    }

    /// The two lines as they are printed.
    ///
    /// What a user or a file gave is escaped, so that an error cannot carry an escape sequence to
    /// the terminal either.
    var description: String {
        var text = "intel: " + TerminalText.escaped(message)
        if let hint { text += "\n  " + TerminalText.escaped(hint) }
        return text
    }
}
