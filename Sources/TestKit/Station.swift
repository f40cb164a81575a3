public import LinuxIO

/// A host in a folder: a bus socket, a spool, and an agent that can be killed and started again.
public final class Station {
    /// Where everything lies.
    public let folder: TemporaryFolder
    /// Variables that lead every command to this bus and spool.
    public let environment: [String: String]
    private var agent: Program?
    private var bus: Program?

    /// An empty station; nothing runs.
    public init() throws(SystemError) {
        let made = try TemporaryFolder()
        folder = made
        environment = [
            "INTEL_BUS": made.file("bus.sock"), "INTEL_SPOOL": made.file("spool"), "TZ": "UTC",
        ]
    }

    /// Starts the agent and waits until it collects.
    public func startAgent(_ more: [String] = []) throws(SystemError) {
        agent = try Program(["agent"] + more, environment: environment)
        _ = eventually { agent?.errorSoFar.contains("collecting") ?? true }
    }

    /// Starts the broker alone and waits until it listens.
    public func startBus(_ more: [String] = []) throws(SystemError) {
        bus = try Program(["bus"] + more, environment: environment)
        _ = eventually { bus?.errorSoFar.contains("listening") ?? true }
    }

    /// What the broker has said on standard error.
    public var busSaid: String { bus?.errorSoFar ?? "" }
    /// The broker's process id; 0 if it does not run.
    public var busPid: Int32 { bus?.pid ?? 0 }

    /// What the agent has said on standard error.
    public var agentSaid: String { agent?.errorSoFar ?? "" }
    /// The agent's process id; 0 if it does not run.
    public var agentPid: Int32 { agent?.pid ?? 0 }

    /// Sends the agent a signal and, if it is to end by it, waits until it has.
    public func signalAgent(_ number: Int32) -> Int32 {
        agent?.signal(number)
        let status = agent?.finish().status ?? -1
        agent = nil
        return status
    }

    /// Stops the broker where it stands (SIGSTOP) and waits until it does not run any more.
    public func freezeBus() { freeze(bus) }

    /// The same with the agent.
    public func freezeAgent() { freeze(agent) }

    private func freeze(_ program: Program?) {
        guard let program else { return }
        program.signal(19)
        _ = eventually {
            let stat = (try? Files.contents("/proc/\(program.pid)/stat")) ?? []
            return String(decoding: stat, as: UTF8.self).contains(") T ")
        }
    }

    /// Lets a frozen agent go on.
    public func thawAgent() {
        agent?.signal(18)
    }

    /// Lets a frozen broker go on.
    public func thawBus() {
        bus?.signal(18)
    }

    /// The socket of the bus.
    public var busPath: String { folder.file("bus.sock") }

    /// Kills the broker and waits until it is gone.
    public func killBus() {
        bus?.signal(9)
        _ = bus?.finish()
        bus = nil
    }

    /// Runs a command to its end.
    public func run(_ arguments: [String], input: [UInt8] = []) throws(SystemError)
        -> Program.Outcome
    {
        try Program.run(arguments, environment: environment, input: input)
    }

    /// Starts a command and leaves it running.
    public func start(_ arguments: [String], input: [UInt8] = []) throws(SystemError) -> Program {
        try Program(arguments, environment: environment, input: input)
    }
}
