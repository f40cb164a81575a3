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
    /// Folder of the spool.
    public var spool: String
    /// The channel that is collected.
    public var channel: String
    /// What a commit survives.
    public var durability: Durability

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

/// The agent in figures, for the live line and `intel status`.
public struct AgentFigures: Sendable, Equatable {
    /// Peers that are alive, the agent itself among them, as in `intel peers`.
    public var alive = 0
    /// Records committed since the start.
    public var stored: UInt64 = 0
    /// Commits since the start.
    public var commits: UInt64 = 0
    /// Records missing, over all peers in the books.
    public var missing: UInt64 = 0
    /// Records dropped with a reason, over all peers in the books.
    public var dropped: UInt64 = 0
    /// Records that came more than once and were stored once, since the start.
    public var duplicates: UInt64 = 0
    /// Transfers that could not be read, since the start.
    public var malformed: UInt64 = 0
    /// Why the last commit failed; nil while all is well.
    public var failure: String?

    /// Nothing has happened yet.
    public init() {}
}
