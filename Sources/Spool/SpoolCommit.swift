public import Telemetry

/// How much a commit waits for the disk.
public enum Durability: Sendable {
    /// What is committed survives a power cut (synchronous=FULL).
    case full
    /// A power cut may take the last commits; the file stays sound (synchronous=NORMAL).
    case normal
}

/// Everything of one transaction: all of it is stored, or nothing.
public struct SpoolCommit: Sendable {
    /// Records, stored in the order of their entries; store numbers are given in that order.
    public var records: RecordBatch
    /// Rows of the books to insert, or to replace by instance.
    public var peers: [PeerState]
    /// Rows of losses to add.
    public var losses: [Loss]

    /// A commit as given.
    public init(
        records: RecordBatch = RecordBatch(),
        peers: [PeerState] = [],
        losses: [Loss] = []
    ) {
        self.records = records
        self.peers = peers
        self.losses = losses
    }
}

/// What could not be read while scanning.
public struct ScanReport: Equatable, Sendable {
    /// Batches that were skipped, each with its number and the reason.
    public internal(set) var damagedBatches: [String] = []
    /// Records in them, as far as the batch's row still tells.
    public internal(set) var damagedRecords: UInt64 = 0

    private struct Damage: Equatable {
        var records: Int
        var reason: String
    }

    private var damaged: [Int64: Damage] = [:]

    /// A report of a scan without damage.
    public init() {}

    /// True if nothing was skipped.
    public var isWhole: Bool { damagedBatches.isEmpty }

    /// The reason why a batch was skipped; nil where it was not.
    func reason(ofBatch id: Int64) -> String? {
        damaged[id]?.reason
    }

    /// The numbers of the batches that were skipped, in order.
    var batches: [Int64] { damaged.keys.sorted() }

    /// Records in a batch that was skipped, as far as its row tells.
    func records(inBatch id: Int64) -> Int {
        damaged[id]?.records ?? 0
    }

    /// Adds what another scan met.
    mutating func merge(_ other: ScanReport) {
        for (id, damage) in other.damaged where damaged[id] == nil {
            add(batch: id, records: damage.records, reason: damage.reason)
        }
    }

    /// Adds a batch, once however often it is met.
    mutating func add(batch id: Int64, records: Int, reason: String) {
        guard damaged[id] == nil else { return }
        damaged[id] = Damage(records: records, reason: reason)
        damagedBatches.append("batch \(id): \(reason)")
        damagedRecords += UInt64(max(0, records))
    }
}

/// The spool in figures.
public struct SpoolSummary: Equatable, Sendable {
    /// Records stored.
    public var records: UInt64 = 0
    /// Bytes of their payloads before compression.
    public var rawBytes: UInt64 = 0
    /// Batches that hold them.
    public var batches: UInt64 = 0
    /// Bytes on disk: hot.db and its write-ahead log.
    public var fileBytes: UInt64 = 0
    /// The earliest `time` of a record, ns since 1970.
    public var oldestTime: Int64?
    /// The latest `time` of a record, ns since 1970.
    public var newestTime: Int64?
    /// The last store number given; 0 before the first.
    public var lastStore: UInt64 = 0

    /// The figures of an empty spool.
    public init() {}
}
