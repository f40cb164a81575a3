internal import LinuxIO
internal import NotifyBroker

/// `intel bus`: the broker alone, as its own service.
enum BusCommand {
    static let definition = Command(
        "bus",
        summary: "host the bus alone, as its own service",
        flags: [.bus, .rules],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let signals = try Daemon.hostSignals()
        Environment.raiseDescriptorLimit()
        let path = Places(arguments).bus
        try BusRules.check(place: path)
        var options = BrokerOptions(path: path)
        options.rules = try BusRules.load(arguments)
        options.listener = Environment.handedSocket
        let broker: BrokerThread
        do {
            broker = try BrokerThread(options)
        } catch {
            throw CommandError("host bus '\(path)': \(error)")
        }
        StandardError.line("intel bus: listening on '\(path)'")
        ProcessMemory.releaseUnwritten()
        while signals.wait() == .hangUp {
            if let rules = BusRules.loadAgain(arguments, for: "intel bus") { broker.replace(rules) }
        }
        broker.stop()
        return ExitStatus.success
    }
}
