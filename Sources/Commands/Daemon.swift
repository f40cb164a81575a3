internal import LinuxIO

/// What the foreground services share.
enum Daemon {
    /// Listens for the signals that end a service.
    static func signals() throws(CommandError) -> Signals {
        try listen([.terminate, .interrupt])
    }

    /// Listens for those and for SIGHUP, by which whoever hosts the bus reads its rules again.
    ///
    /// On a terminal that signal says that the terminal is gone, and ends the program as ever.
    static func hostSignals() throws(CommandError) -> Signals {
        let isOnTerminal = Descriptor.isTerminal(0)
        return try listen([.terminate, .interrupt] + (isOnTerminal ? [] : [.hangUp]))
    }

    private static func listen(_ wanted: [Signals.Signal]) throws(CommandError) -> Signals {
        do throws(SystemError) {
            return try Signals(wanted)
        } catch {
            throw CommandError("\(error)")
        }
    }
}
