/// Who sent a record and its number there: unique for ever, and the key of deduplication.
public struct RecordID: Hashable, Sendable, CustomStringConvertible {
    /// The sender.
    public var instance: PeerInstance
    /// Its number in the instance, from 1.
    public var sequence: UInt64

    /// An ID as given.
    public init(instance: PeerInstance, sequence: UInt64) {
        self.instance = instance
        self.sequence = sequence
    }

    /// `com.vendor.pos/1796000000000000000/42`.
    public var description: String { "\(instance)/\(sequence)" }
}

/// The numbers of a record: all of it but the texts.
public struct Envelope: Equatable, Sendable {
    /// Its number in the instance, from 1.
    public var sequence: UInt64
    /// Severity.
    public var level: Level
    /// The sender's wall clock, ns since 1970.
    public var time: Int64
    /// The sender's CLOCK_BOOTTIME, ns.
    public var boot: UInt64
    /// The agent's wall clock when it took the record, ns since 1970.
    public var received: Int64
    /// What output is sorted by: `time`, but never after `received` and never before an earlier
    /// record of the same instance (see "Order" in ARCHITECTURE.md).
    public var order: Int64

    /// Numbers as given; `order` starts as `time`.
    public init(
        sequence: UInt64,
        level: Level = .info,
        time: Int64,
        boot: UInt64 = 0,
        received: Int64 = 0,
        order: Int64? = nil
    ) {
        self.sequence = sequence
        self.level = level
        self.time = time
        self.boot = boot
        self.received = received
        self.order = order ?? time
    }
}

/// One record, whole: what a reader hands out.
public struct Record: Equatable, Sendable {
    /// The sender.
    public var instance: PeerInstance
    /// The sender's process, by the kernel.
    public var pid: Int32
    /// The sender's user, by the kernel.
    public var uid: UInt32
    /// What sort of record, as the sender named it: `order.created`.
    public var kind: String
    /// Its numbers.
    public var envelope: Envelope
    /// Its place in the order of commits, from 1; cursors run on it.
    public var store: UInt64
    /// The payload: JSON text, byte for byte as it was sent.
    public var payload: [UInt8]

    /// A record as given.
    public init(
        instance: PeerInstance,
        pid: Int32,
        uid: UInt32,
        kind: String,
        envelope: Envelope,
        store: UInt64,
        payload: [UInt8]
    ) {
        self.instance = instance
        self.pid = pid
        self.uid = uid
        self.kind = kind
        self.envelope = envelope
        self.store = store
        self.payload = payload
    }

    /// Its unique name.
    public var id: RecordID { RecordID(instance: instance, sequence: envelope.sequence) }
}
