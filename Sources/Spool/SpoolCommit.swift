internal import LinuxIO
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

    private var damaged: [BatchName: Damage] = [:]

    /// A report of a scan without damage.
    public init() {}

    /// True if nothing was skipped.
    public var isWhole: Bool { damagedBatches.isEmpty }

    /// The reason why a batch was skipped; nil where it was not.
    func reason(_ name: BatchName) -> String? {
        damaged[name]?.reason
    }

    /// What was skipped, in order.
    var names: [BatchName] { damaged.keys.sorted() }

    /// Records in a batch that was skipped, as far as its row tells.
    func records(_ name: BatchName) -> Int {
        damaged[name]?.records ?? 0
    }

    /// Adds what another scan met.
    mutating func merge(_ other: ScanReport) {
        for name in other.names where damaged[name] == nil {
            add(name, records: other.records(name), reason: other.reason(name) ?? "")
        }
    }

    /// Adds a batch, once however often it is met.
    mutating func add(_ name: BatchName, records: Int, reason: String) {
        guard damaged[name] == nil else { return }
        damaged[name] = Damage(records: records, reason: reason)
        damagedBatches.append("\(name): \(reason)")
        damagedRecords += UInt64(max(0, records))
    }
}

/// A batch of the hot tier, a segment, or a batch in one.
struct BatchName: Hashable, Comparable, CustomStringConvertible {
    /// The segment's file; nil in the hot tier.
    var segment: String?
    /// Its number there; 0 for the segment as a whole.
    var id: Int64 = 0

    var description: String {
        guard let segment else { return "batch \(id)" }
        return id == 0 ? "segment \(segment)" : "segment \(segment), batch \(id)"
    }

    static func < (left: BatchName, right: BatchName) -> Bool {
        (left.segment ?? "~", left.id) < (right.segment ?? "~", right.id)
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
    /// Files of the cold tier.
    public var segments: UInt64 = 0
    /// Records in them.
    public var coldRecords: UInt64 = 0
    /// Bytes on disk: hot.db, its write-ahead log, and the segments.
    public var fileBytes: UInt64 = 0
    /// The earliest `time` of a record, ns since 1970.
    public var oldestTime: Int64?
    /// The latest `time` of a record, ns since 1970.
    public var newestTime: Int64?
    /// The last store number given; 0 before the first.
    public var lastStore: UInt64 = 0

    /// The figures of an empty spool.
    public init() {}

    /// Bytes on disk of the spool in `directory`, by its files alone.
    public static func fileBytes(_ directory: String) -> Int64 {
        let folder = SegmentFolder(spool: directory)
        return folder.names.reduce(
            Files.size(Schema.database(directory)) + Files.size(Schema.log(directory))
        ) { $0 + Files.size(folder.file($1)) }
    }
}
