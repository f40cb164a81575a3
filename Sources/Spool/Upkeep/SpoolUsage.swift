internal import LinuxIO

/// What a spool takes on the disk, by peer and kind.
public struct SpoolUsage: Sendable {
    /// What a part of the records takes.
    public struct Share: Equatable, Sendable {
        /// Records.
        public var records: UInt64 = 0
        /// Bytes of their payloads, before compression.
        public var rawBytes: UInt64 = 0
        /// Bytes of batches in the hot tier.
        public var hotBytes: UInt64 = 0
        /// Bytes of segment files.
        public var coldBytes: UInt64 = 0
        /// Bytes of both.
        public var bytes: UInt64 { hotBytes + coldBytes }

        /// Nothing.
        public init() {}

        /// Takes in another part.
        public mutating func add(_ other: Share) {
            records += other.records
            rawBytes += other.rawBytes
            hotBytes += other.hotBytes
            coldBytes += other.coldBytes
        }
    }

    /// The records of one kind of one peer.
    public struct Stream: Equatable, Sendable {
        /// The sender's identifier.
        public var peer: String
        /// What sort of record.
        public var kind: String
        /// What they take.
        public var share: Share
    }

    /// Bytes of the files in the folder.
    public struct Sizes: Equatable, Sendable {
        /// hot.db.
        public var hot: UInt64 = 0
        /// Its write-ahead log.
        public var log: UInt64 = 0
        /// The log's index.
        public var index: UInt64 = 0
        /// The segments that are listed.
        public var segments: UInt64 = 0
        /// All else in the folder: what was set aside, reserves, leftovers.
        public var other: UInt64 = 0
        /// All together.
        public var total: UInt64 { hot + log + index + segments + other }
    }

    /// Every stream, by peer and kind.
    public internal(set) var streams: [Stream] = []
    /// Bytes of files.
    public internal(set) var sizes = Sizes()
    /// Listed segments.
    public internal(set) var segments: UInt64 = 0
    /// What could not be read and is left out, or told from the list alone.
    public internal(set) var report = ScanReport()

    init() {}

    /// The shares of all peers, by identifier.
    public var peers: [(name: String, share: Share)] { sums(\.peer) }
    /// The shares of all kinds, by name.
    public var kinds: [(name: String, share: Share)] { sums(\.kind) }
    /// The share of all records.
    public var all: Share {
        streams.reduce(into: Share()) { $0.add($1.share) }
    }

    private func sums(_ name: KeyPath<Stream, String>) -> [(name: String, share: Share)] {
        var sums: [String: Share] = [:]
        for stream in streams { sums[stream[keyPath: name], default: Share()].add(stream.share) }
        return sums.sorted { $0.key < $1.key }.map { (name: $0.key, share: $0.value) }
    }
}

/// Cuts a number into whole parts whose sum is the number.
struct Proportion {
    let total: UInt64
    let parts: UInt64
    private var before: UInt64 = 0

    /// `total` in proportion to numbers whose sum is `parts`.
    init(_ total: UInt64, parts: UInt64) {
        self.total = total
        self.parts = parts
    }

    /// What is due to the next of the numbers.
    mutating func next(_ part: UInt64) -> UInt64 {
        let start = share(before)
        before = min(parts, before &+ min(part, parts))
        return share(before) - start
    }

    private func share(_ part: UInt64) -> UInt64 {
        guard parts > 0 else { return 0 }
        let product = total.multipliedFullWidth(by: part)
        return parts.dividingFullWidth(product).quotient
    }
}
