/// Records on their way from the bus to the disk: numbers in one array, payloads in one buffer,
/// each sender and kind named once.
///
/// Batches cross threads, records do not.
public struct RecordBatch: Sendable {
    /// One record's numbers and where its parts lie.
    public struct Entry: Sendable {
        /// Index into `instances`.
        public var instance: Int
        /// Index into `kinds`.
        public var kind: Int
        /// The numbers.
        public var envelope: Envelope
        /// Where its payload lies in `payloads`.
        public var payload: Range<Int>
    }

    /// Every sender that occurs.
    public private(set) var instances: [PeerInstance] = []
    /// Every kind that occurs.
    public private(set) var kinds: [String] = []
    /// The records, in the order in which they will be stored.
    public var entries: [Entry] = []
    /// All payloads, one after another.
    public private(set) var payloads: [UInt8] = []

    private var instanceIndex: [PeerInstance: Int] = [:]
    private var kindIndex: [String: Int] = [:]

    /// An empty batch.
    public init() {}

    /// True if it holds no record.
    public var isEmpty: Bool { entries.isEmpty }
    /// Records in it.
    public var count: Int { entries.count }
    /// Bytes of payload in it.
    public var payloadBytes: Int { payloads.count }

    /// Index of a sender, which is named if it is new.
    public mutating func index(of instance: PeerInstance) -> Int {
        if let known = instanceIndex[instance] { return known }
        instances.append(instance)
        instanceIndex[instance] = instances.count - 1
        return instances.count - 1
    }

    /// Index of a kind, which is named if it is new.
    public mutating func index(ofKind kind: String) -> Int {
        if let known = kindIndex[kind] { return known }
        kinds.append(kind)
        kindIndex[kind] = kinds.count - 1
        return kinds.count - 1
    }

    /// Adds a record; `instance` and `kind` come from the two `index` functions of this batch.
    public mutating func append(
        instance: Int,
        kind: Int,
        envelope: Envelope,
        payload: UnsafeRawBufferPointer
    ) {
        let start = payloads.count
        payloads.append(contentsOf: payload)
        entries.append(
            Entry(
                instance: instance,
                kind: kind,
                envelope: envelope,
                payload: start..<payloads.count
            )
        )
    }
}
