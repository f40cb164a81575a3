internal import LinuxIO
internal import NotifyBroker

/// `intel bus`: the broker alone, as its own service.
enum BusCommand {
    static let definition = Command(
        "bus",
        summary: "host the bus alone, as its own service",
        flags: [.bus],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let signals = try Daemon.signals()
        let path = Places(arguments).bus
        let broker: BrokerThread
        do {
            broker = try BrokerThread(path: path)
        } catch {
            throw CommandError("host bus '\(path)': \(error)")
        }
        StandardError.line("intel bus: listening on '\(path)'")
        _ = signals.wait()
        broker.stop()
        return ExitStatus.success
    }
}
