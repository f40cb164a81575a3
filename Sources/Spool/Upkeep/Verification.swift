/// What a verification has found.
public struct Verification: Equatable, Sendable {
    /// Something that cannot be read, or is not what it should be.
    public struct Damage: Equatable, Sendable {
        /// What: `batch 12`, `segment NAME, batch 3`, `books of PEER`.
        public var subject: String
        /// Why, in a few words.
        public var cause: String
        /// Records in it, as far as plain columns tell.
        public var records: UInt64

        /// Damage as given.
        public init(subject: String, cause: String, records: UInt64) {
            self.subject = subject
            self.cause = cause
            self.records = records
        }
    }

    /// Records that were read and found sound.
    public internal(set) var records: UInt64 = 0
    /// Bytes of their payloads.
    public internal(set) var rawBytes: UInt64 = 0
    /// Bytes of their batches as they are stored.
    public internal(set) var packedBytes: UInt64 = 0
    /// Batches of the hot tier that were looked at.
    public internal(set) var hotBatches: UInt64 = 0
    /// Batches of segments that were looked at.
    public internal(set) var coldBatches: UInt64 = 0
    /// Segments that were looked at.
    public internal(set) var segments: UInt64 = 0
    /// Batches and segments that were moved or removed meanwhile.
    ///
    /// What they were moved to was looked at instead.
    public internal(set) var moved: UInt64 = 0
    /// What is not sound, in the order of the spool.
    public internal(set) var damages: [Damage] = []

    /// True if nothing was found.
    public var isSound: Bool { damages.isEmpty }
    /// Records in what is damaged, as far as plain columns tell.
    public var damagedRecords: UInt64 { damages.reduce(0) { $0 &+ $1.records } }

    /// Nothing was looked at yet.
    init() {}

    /// Adds what another thread has found.
    mutating func add(_ other: Verification) {
        records += other.records
        rawBytes += other.rawBytes
        packedBytes += other.packedBytes
        hotBatches += other.hotBatches
        coldBatches += other.coldBatches
        segments += other.segments
        moved += other.moved
        damages += other.damages
    }

    mutating func add(_ name: BatchName, records: Int, _ cause: String) {
        let records = UInt64(max(0, records))
        damages.append(Damage(subject: "\(name)", cause: cause, records: records))
    }
}
