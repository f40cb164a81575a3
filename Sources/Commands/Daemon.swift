internal import LinuxIO

/// What the foreground services share.
enum Daemon {
    /// Listens for the signals that end a service.
    static func signals() throws(CommandError) -> Signals {
        do throws(SystemError) {
            return try Signals([.terminate, .interrupt])
        } catch {
            throw CommandError("\(error)")
        }
    }
}
