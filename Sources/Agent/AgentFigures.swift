public import NotifyBroker

/// The agent in figures, for the live line and `intel status`.
public struct AgentFigures: Sendable, Equatable {
    /// Peers that are alive, the agent itself among them, as in `intel peers`.
    public var alive = 0
    /// Records committed since the start.
    public var stored: UInt64 = 0
    /// Records committed a second, over the last ten seconds.
    public var storedPerSecond: UInt64 = 0
    /// Commits since the start.
    public var commits: UInt64 = 0
    /// Tries of a commit that failed and were repeated, since the start.
    public var failedCommits: UInt64 = 0
    /// Bytes of hot.db's write-ahead log.
    public var logBytes: UInt64 = 0
    /// Bytes of it that a reader with an old snapshot keeps from being copied; 0 while few are.
    public var logHeldBytes: UInt64 = 0
    /// Checkpoints that a reader or the writer kept from copying everything, since the start.
    public var checkpointsHeld: UInt64 = 0
    /// Damages that were found when the spool was opened.
    public var findings = 0
    /// Records missing, over all peers in the books.
    public var missing: UInt64 = 0
    /// Records dropped with a reason, over all peers in the books.
    public var dropped: UInt64 = 0
    /// Records that came more than once and were stored once, since the start.
    public var duplicates: UInt64 = 0
    /// Transfers that could not be read, since the start.
    public var malformed: UInt64 = 0
    /// Records stored under a common kind, since there are too many kinds, since the start.
    public var relabelled: UInt64 = 0
    /// Peers that were passed over since another one has the same name and start, since the start.
    public var impostors: UInt64 = 0
    /// Bytes that wait for the next commit.
    public var waitingBytes = 0
    /// Commits on their way to the disk.
    public var commitsInFlight = 0
    /// Instances whose books are in memory.
    public var booksInMemory = 0
    /// True while the bus answers.
    public var isAttached = false
    /// True while peers wait to be met, since as many as may be are there.
    public var isFull = false
    /// The counters of the bus that the agent hosts; nil where somebody else does.
    public var broker: BrokerFigures?
    /// Segments that compaction has made, since the start.
    public var segments = 0
    /// Records in them.
    public var compacted: UInt64 = 0
    /// Files in the folder of segments that the spool does not know.
    public var strays = 0
    /// Why the last compaction failed; nil while all is well.
    public var compactionFailure: String?
    /// Records that retention has removed, since the start.
    public var removedRecords: UInt64 = 0
    /// Bytes of them.
    public var removedBytes: UInt64 = 0
    /// Bytes of everything in the spool's folder when retention last looked.
    public var spoolBytes: UInt64 = 0
    /// What they may be; 0 before retention has looked.
    public var spoolBytesMax: UInt64 = 0
    /// Why the last removal failed; nil while all is well.
    public var retentionFailure: String?
    /// What somebody should look at of the bounds of the spool.
    public var retentionWarnings: [String] = []
    /// Why the last commit failed; nil while all is well.
    public var failure: String?

    /// Nothing has happened yet.
    public init() {}
}
