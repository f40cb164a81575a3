internal import Agent
internal import LinuxIO
internal import Spool

/// `intel agent`: the collector, in the foreground.
enum AgentCommand {
    static let busMode = Flag(
        "bus-mode",
        "MODE",
        choices: ["auto", "embedded", "external"],
        help: "host the bus: auto (if nobody answers), embedded, external"
    )
    static let durability = Flag(
        "durability",
        "MODE",
        choices: ["full", "normal"],
        help: "full: commits survive a power cut; normal: up to the last checkpoint"
    )
    static let live = Flag("live", help: "a line on stderr that counts along")

    static let definition = Command(
        "agent",
        summary: "collect: take what the peers send and keep it in the spool",
        flags: [.bus, .rules, .spool, .channel, busMode, durability, live] + RetentionFlags.all,
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        // Before any other thread, so that all of them leave the signals to this one.
        let signals = try Daemon.hostSignals()
        Environment.raiseDescriptorLimit()
        var options = AgentOptions(
            busPath: Places(arguments).bus,
            busMode: AgentOptions.BusMode(rawValue: arguments.value(busMode) ?? "auto") ?? .auto,
            spool: Places(arguments).spool(toWrite: true),
            channel: try Places(arguments).channel(),
            durability: arguments.value(durability) == "normal" ? .normal : .full
        )
        options.retention = try RetentionFlags.rules(arguments)
        try BusRules.check(place: options.busPath)
        options.rules = try BusRules.load(arguments)
        let agent = try start(options)
        let host = agent.isHostingBus ? "hosting" : "using"
        StandardError.line(
            "intel agent: collecting '\(options.channel)' into '\(options.spool)', "
                + "\(host) bus '\(options.busPath)'"
        )
        if arguments.has(live) {
            showLive(agent, options, signals) { reload(agent, arguments) }
        } else {
            while signals.wait() == .hangUp { reload(agent, arguments) }
        }
        StandardError.line("intel agent: stopping")
        agent.stop()
        StandardError.line("intel agent: stopped, \(agent.figures.stored) records stored")
        return ExitStatus.success
    }

    private static func reload(_ agent: Agent, _ arguments: Parsed) {
        guard agent.isHostingBus else {
            return StandardError.line("intel agent: the rules are those of whoever hosts the bus")
        }
        if let rules = BusRules.loadAgain(arguments, for: "intel agent") { agent.replace(rules) }
    }

    private static func start(_ options: AgentOptions) throws(CommandError) -> Agent {
        do {
            return try Agent(options)
        } catch let error as AgentError {
            throw CommandError(error.description, hint: error.hint)
        } catch let error as SpoolError {
            throw CommandError("\(error)", hint: error.hint)
        } catch {
            throw CommandError("start agent: \(error)")
        }
    }

    /// Rewrites one line a second on a terminal, and prints a new one where there is none.
    private static func showLive(
        _ agent: Agent,
        _ options: AgentOptions,
        _ signals: borrowing Signals,
        reload: () -> Void
    ) {
        let isTerminal = Descriptor.isTerminal(Descriptor.error)
        var shown = ""
        while true {
            let signal = signals.next()
            if signal == .hangUp { reload() } else if signal != nil { break }
            let line = LiveLine.text(
                agent.figures,
                bytes: SpoolSummary.fileBytes(options.spool)
            )
            if isTerminal {
                try? Descriptor.write(Descriptor.error, Array("\r\u{1b}[K\(line)".utf8))
            } else if line != shown {
                StandardError.line(line)
            }
            shown = line
            Descriptor.wait(readable: signals.descriptor, milliseconds: 1000)
        }
        if isTerminal { StandardError.line("") }
    }
}
