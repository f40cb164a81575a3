internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol

/// `intel notify`: the bus by hand, as notifyutil is for notify(3).
enum NotifyCommand {
    static let definition = Command(
        "notify",
        summary: "post, watch, get, set and list names of the bus",
        operands: "[OPTION | STEP]…",
        readsItself: true,
        notes: [
            "Steps are done from left to right; the whole line is checked before.",
            "  -p NAME          post",
            "  -w NAME          report posts for ever",
            "  -N NAME          report N posts (-1, -5, …)",
            "  -g NAME          print the state",
            "  -s NAME VALUE    set the state: decimal, 0x hexadecimal, or negative",
            "  -l [PREFIX]      list the names that begin so",
            "  --who            list the connections",
            "How the following -w and -N hear of posts:",
            "  -dispatch        as events, with their details (the default; also -port)",
            "  -file            by a file descriptor",
            "  -check, -plain   by looking every 100 ms; -z MS: that often",
            "  -signal [N]      by signal N (1, HUP); also -sig",
            "  --since POSTS    report at once if there were more posts than that",
            "Output and bus:",
            "  -v               every field;  -q: only what -g prints",
            "  --json           one JSON object a line",
            "  --bus PATH       socket of the bus (INTEL_BUS)",
            "  -M, -R           accepted: always so",
            "Exit status: 0 all was done, 2 something was not; the reason is on stderr.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let script = try NotifyScript(arguments.operands)
        if script.wantsHelp { return try arguments.answer(HelpText.command(definition) + "\n") }
        // Before the client's threads, so that all of them leave the signals to this one.
        let signals = try calling { () throws(SystemError) in try Signals(wanted(script)) }
        var named = arguments
        if let bus = script.bus { named.add(.bus, bus) }
        let path = Places(named).bus
        let client = try connect(path)
        defer { client.close() }
        let session = try NotifySession(script, client, named)
        return try session.run(signals)
    }

    private static func connect(_ path: String) throws(CommandError) -> NotifyClient {
        do throws(NotifyStatus) {
            return try NotifyClient(path: path)
        } catch {
            throw CommandError(
                "connect to bus '\(path)': \(error)",
                hint: "is 'intel agent' or 'intel bus' running? --bus names another socket"
            )
        }
    }

    /// The signals that end the program, and those that steps wait for.
    private static func wanted(_ script: NotifyScript) -> [Signals.Signal] {
        var wanted: [Signals.Signal] = [.interrupt, .terminate]
        for case .watch(_, _, .signal(let number), _) in script.steps {
            wanted.append(.other(number))
        }
        return wanted
    }
}
