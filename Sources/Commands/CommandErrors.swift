internal import LinuxIO
internal import Spool

extension CommandError {
    /// A failure of the spool in the words of the command line; "not allowed" has its own status.
    init(_ error: SpoolError) {
        self.init(error.description, hint: error.hint)
        switch error.kind {
        case .denied: status = ExitStatus.denied
        case .notFound:
            if hint == nil {
                hint = "name the folder with --spool or INTEL_SPOOL, or start 'intel agent'"
            }
        default: break
        }
    }

    /// A failed system call in the words of the command line.
    init(_ error: SystemError, hint: String? = nil) {
        self.init(error.description, hint: hint)
        if error.isDenied { status = ExitStatus.denied }
    }
}

/// Runs `body` and puts what the spool throws into the words of the command line.
func reading<Value: ~Copyable>(
    _ body: () throws(SpoolError) -> Value
) throws(CommandError) -> Value {
    do throws(SpoolError) {
        return try body()
    } catch {
        throw CommandError(error)
    }
}

/// Runs `body` and puts what a system call throws into the words of the command line.
func calling<Value: ~Copyable>(
    _ body: () throws(SystemError) -> Value
) throws(CommandError) -> Value {
    do throws(SystemError) {
        return try body()
    } catch {
        throw CommandError(error)
    }
}
