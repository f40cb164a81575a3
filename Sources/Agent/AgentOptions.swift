public import NotifyBroker
public import Spool

/// How an agent is to run; every field has been checked by the command line or the configuration.
public struct AgentOptions: Sendable {
    /// Whether the agent hosts the bus itself.
    public enum BusMode: String, Sendable {
        /// Hosts it where nobody answers on the socket.
        case auto
        /// Hosts it; fails where somebody else does.
        case embedded
        /// Uses somebody else's, and waits for it.
        case external
    }

    /// Path of the bus socket.
    public var busPath: String
    /// Who hosts the bus.
    public var busMode: BusMode
    /// Who may use which names of a bus that the agent hosts.
    public var rules = AccessRules()
    /// Folder of the spool.
    public var spool: String
    /// The channel that is collected.
    public var channel: String
    /// What a commit survives.
    public var durability: Durability
    /// When records move to the cold tier.
    public var compaction = CompactionLimits()

    /// How much is kept, and for how long.
    public var retention = RetentionRules()

    /// Options as given.
    public init(
        busPath: String,
        busMode: BusMode = .auto,
        spool: String,
        channel: String = "intel",
        durability: Durability = .full
    ) {
        self.busPath = busPath
        self.busMode = busMode
        self.spool = spool
        self.channel = channel
        self.durability = durability
    }
}

/// Why the agent could not start.
public struct AgentError: Error, Sendable, CustomStringConvertible {
    /// What failed, on what, and why: one line, lower case.
    public var description: String
    /// What to do about it.
    public var hint: String?

    init(_ description: String, hint: String? = nil) {
        self.description = description
        self.hint = hint
    }
}
