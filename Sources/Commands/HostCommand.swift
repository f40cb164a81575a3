internal import Dispatch
internal import InternalNotification
internal import LinuxIO

/// `intel host`: a peer that sends the machine's telemetry.
enum HostCommand {
    static let every = Flag("every", "TIME", help: "pause between snapshots (10s)")
    static let identifier = Flag("as", "IDENTIFIER", help: "who sends (intel.host)")

    static let definition = Command(
        "host",
        summary: "send the machine's telemetry: CPU, memory, disks, network, temperatures …",
        flags: [every, identifier, .bus, .channel],
        notes: [
            "Runs until SIGTERM or SIGINT. Kinds: host.cpu, host.memory, host.swap, host.load,",
            "host.processes, host.pressure, host.uptime, host.disk, host.network,",
            "host.filesystem, host.temperature; what the kernel does not tell is left out.",
        ],
        run: run
    )

    /// Snapshots more often than this measure only themselves.
    static let pauseMin: UInt64 = 100_000_000

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let pause = try arguments.duration(every) ?? 10_000_000_000
        guard pause >= pauseMin else {
            throw CommandError("--every is below 100ms", hint: "give 100ms or more")
        }
        let places = Places(arguments)
        // Before any thread starts, so that all of them leave the signals to this one.
        let signals = try calling { () throws(SystemError) in
            try Signals([.interrupt, .terminate])
        }
        let timer = try calling { () throws(SystemError) in try DeadlineTimer() }
        var poller = try calling { () throws(SystemError) in try Poller() }
        try calling { () throws(SystemError) in
            try poller.add(signals.descriptor, tag: 0)
            try poller.add(timer.descriptor, tag: 1)
        }
        let config = INAppConfig(
            identifier: arguments.value(identifier) ?? "intel.host",
            busPath: places.bus
        )
        if let fault = config.fault { throw CommandError("--as: \(fault)") }
        let center = INCenter(
            identifier: try places.channel(),
            config: config,
            callbackQueue: DispatchQueue(label: "intel.host")
        )
        timer.arm(after: pause, every: pause)
        var sampler = HostSampler()
        send(sampler.sample(), center)
        var isOver = false
        while !isOver {
            var isDue = false
            try calling { () throws(SystemError) in
                try poller.wait(timeout: -1) { event in
                    if event.tag == 0 { isOver = true } else { isDue = true }
                }
            }
            if isDue, timer.hear() { send(sampler.sample(), center) }
        }
        center.stop()
        return ExitStatus.success
    }

    private static func send(_ samples: [HostSample], _ center: INCenter) {
        let messages = samples.compactMap { try? INMessage(kind: $0.kind, json: $0.payload) }
        center.messenger.send(messages)
    }
}
