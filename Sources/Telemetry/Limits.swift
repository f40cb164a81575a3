/// Every bound of the product, with its reason.
///
/// Nothing grows with a peer's behaviour; meeting a limit is counted and told. `intel status`
/// prints this table.
public enum Limits {
    /// Heartbeat: one ping every 3 s, ±10 % so that peers do not beat together.
    public static let pingInterval: UInt64 = 3_000_000_000
    /// A peer that is silent this long (three pings) is lost.
    public static let lostAfter: UInt64 = 10_000_000_000

    /// Registers of a peer's pool: 32 KiB, the published transport.
    public static let ringRegisters = 4096
    /// Bytes of the ring: 8 a register.
    public static let ringBytes = ringRegisters * 8
    /// Descriptors in a peer's transfer table: transfers that can be whole at the same time.
    public static let transfersMax = 64
    /// A transfer's JSON before compression: larger batches compress no better.
    public static let transferBytes = 256 << 10
    /// A transfer's JSON that a reader will unpack: a single large message may exceed the above.
    public static let transferBytesMax = 16 << 20
    /// A message's JSON, before compression; above it `send` refuses.
    public static let messageBytesMax = 8 << 20
    /// Messages that wait in a sender for a collector: bytes.
    public static let queueBytesMax = 64 << 20
    /// Messages that wait in a sender for a collector: count.
    public static let queueMessagesMax = 100_000
    /// With nobody to acknowledge: messages a batch, as published.
    public static let unacknowledgedBatchMax = 50
    /// With nobody to acknowledge: pause between batches, as published.
    public static let unacknowledgedPause: UInt64 = 300_000_000
    /// How long a claim outlives its process, so that a short-lived one is still read.
    public static let lingerSeconds: UInt32 = 30
    /// Calls that wait in a program's callback queue; beyond them its siblings are not read.
    public static let deliveriesMax = 64
    /// Elements that wait in a sequence for a slow reader; beyond them the oldest are lost.
    public static let streamBufferMax = 1024
    /// How long `stop` and normal exit wait for what is queued.
    public static let flushTimeout: UInt64 = 2_000_000_000

    /// How long the agent reads on, when it is to stop, for peers that have ended.
    public static let stopTimeout: UInt64 = 10_000_000_000

    /// UTF-8 bytes of an identifier or a kind: bus names are cut from them and stay below 511.
    public static let nameBytesMax = 255
    /// Peers that are there at the same time; also ended ones whose books stay in memory, of which
    /// the longest gone is let go first and looked up in the spool when it comes again.
    public static let peersMax = 10_000
    /// Different kinds of one agent run: a peer cannot invent streams without bound.
    public static let kindsMax = 10_000
    /// The highest sequence number: beyond any sender's life, and sums of a few fit 64 bits.
    public static let sequenceMax: UInt64 = 1 << 60
    /// Pieces of news that something was dropped, in one transfer: an honest one has few.
    public static let dropsPerTransferMax = 64
    /// Holes of one instance that are kept open; the oldest beyond are closed as lost for good.
    public static let holesMax = 1_000

    /// A batch of the hot tier: raw bytes at which it is committed.
    public static let batchBytes = 256 << 10
    /// A batch of the hot tier: the most that is gathered while a commit runs.
    public static let batchBytesMax = 1 << 20
    /// How long a record waits for its batch where nobody waits for the acknowledgement.
    public static let batchDelay: UInt64 = 1_000_000_000
    /// Batches on their way to the disk; when they are full the bus is not read.
    public static let batchesQueuedMax = 4
    /// What one batch may unpack to: guards readers of a damaged or forged spool.
    public static let batchRawBytesMax = 64 << 20
    /// The hot tier: payload bytes, and 96 for each record, at which records move to the cold one.
    public static let hotBytes = 24 << 20
    /// The hot tier: batches at which they do, so that lists of them stay short.
    public static let hotBatchesMax = 4096
    /// The hot tier: what stays at the least, as the newest records are asked for most.
    public static let hotBytesKept = 2 << 20
    /// The hot tier: how long more than a small segment waits for more.
    public static let hotAge: UInt64 = 900_000_000_000
    /// A segment of the cold tier: the most that goes into one, which is held in memory meanwhile.
    public static let segmentBytes = 24 << 20
    /// A segment smaller than this is joined with what comes next, so that files do not pile up.
    public static let segmentBytesSmall = 4 << 20
    /// The spool: without a rule it may take one part in so many of its file system.
    public static let spoolShare = 10
    /// The spool: what it may take at the least, where that part is smaller.
    public static let spoolBytesLeast: UInt64 = 64 << 20
    /// The spool: what it may take at the most, where that part is larger.
    public static let spoolBytesMost: UInt64 = 4 << 30
    /// The spool: what stays free on its file system for others, or an eighth of a small one.
    public static let diskReserve: UInt64 = 64 << 20
    /// The spool: with less than this free, or a sixteenth of a small file system, nothing is
    /// committed: making room takes some.
    public static let diskReserveLeast: UInt64 = 8 << 20
    /// The spool: a file that is given back when the disk is full, so that removing can begin.
    public static let ballastBytes = 8 << 20
    /// The spool: how often it is looked at whether records are to be removed.
    public static let retentionInterval: UInt64 = 30_000_000_000
    /// The spool: segments that one look rewrites, so that compaction and others get their turn.
    public static let rewritesAtOnce = 8
    /// hot.db: batches that one transaction removes, so that no commit waits long.
    public static let removedAtOnce = 64
    /// The book of removals: rows beyond which the older half is added up by peer, kind and reason.
    public static let removedRowsMax = 65_536
    /// The clock of ages: it follows a wall clock that is ahead by up to this at once.
    public static let ageStep: UInt64 = 86_400_000_000_000
    /// The clock of ages: how long a wall clock that is further ahead has to say so.
    public static let ageProof: UInt64 = 86_400_000_000_000
    /// The spool: how long a removal by hand waits for the agent's work on segments.
    public static let segmentLockPatience: UInt64 = 10_000_000_000
    /// hot.db: free pages of 8 KiB beyond which its file is made smaller.
    public static let hotPagesFreeMax = 4096
    /// Write-ahead log: a passive checkpoint runs each time it has grown by this much.
    public static let checkpointBytes = 8 << 20
    /// Write-ahead log: above this a truncating checkpoint is tried.
    public static let walBytesMax = 64 << 20
}
