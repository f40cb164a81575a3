internal import Telemetry

/// What SQL asks of records beyond the flags of the command line; everything passes at first.
///
/// The parts are kept apart by what they need: names and levels come from the plain columns of a
/// batch, numbers of records need its envelope.
struct Conditions: Sendable {
    /// One test of a name.
    enum NameTest: Sendable {
        /// It is one of these, byte for byte: Swift's own equality finds more texts equal.
        case oneOf(Set<[UInt8]>)
        /// It begins with this, in bytes; ASCII letters in either case where `ignoresCase`.
        case prefix([UInt8], ignoresCase: Bool)

        func passes(_ name: String) -> Bool {
            switch self {
            case .oneOf(let names): return names.contains(Array(name.utf8))
            case .prefix(let bytes, let ignoresCase):
                let start = name.utf8.prefix(bytes.count)
                if !ignoresCase { return start.elementsEqual(bytes) }
                return start.elementsEqual(bytes) { Self.lower($0) == Self.lower($1) }
            }
        }

        private static func lower(_ byte: UInt8) -> UInt8 {
            byte &- 0x41 < 26 ? byte | 0x20 : byte
        }
    }

    /// Tests of the peer; all must pass.
    var peers: [NameTest] = []
    /// Tests of the kind; all must pass.
    var kinds: [NameTest] = []
    /// Epochs, as SQL has them; nil for any.
    var epochs: Set<Int64>?
    /// One bit a level that is wanted.
    var levels: UInt8 = 0xff
    /// Sequence numbers that are wanted.
    var sequences = Bounds()
    /// Store numbers that are wanted.
    var stores = Bounds()

    /// The value at a path into the payload that is wanted.
    var payload: PayloadTest?

    /// True if names or levels matter, or what else is known of a group.
    var choosesGroups: Bool {
        !peers.isEmpty || !kinds.isEmpty || epochs != nil || levels != 0xff || !sequences.isOpen
    }

    /// True if the numbers of single records matter.
    var checksRecords: Bool { !sequences.isOpen || !stores.isOpen }

    func wants(peer: String, kind: String) -> Bool {
        peers.allSatisfy { $0.passes(peer) } && kinds.allSatisfy { $0.passes(kind) }
    }

    func wants(epoch: Int64) -> Bool {
        epochs?.contains(epoch) ?? true
    }

    func wants(level: UInt8) -> Bool {
        level < 8 && levels >> level & 1 == 1
    }

    func wants(_ envelope: Envelope, store: UInt64) -> Bool {
        sequences.contains(envelope.sequence) && stores.contains(store)
    }

    /// True if a batch can hold what is wanted, as far as its store numbers tell.
    func mayWant(_ row: BatchRow) -> Bool {
        stores.isOpen || stores.overlap(row.firstStore, row.lastStore)
    }

    /// True if a group can hold what is wanted, as far as its sequence numbers tell.
    func mayWant(_ group: BatchGroup) -> Bool {
        sequences.overlap(group.sequences.lowerBound, group.sequences.upperBound)
    }

    /// True if all of a batch is wanted, as far as the numbers of its records go.
    func wantsAll(_ row: BatchRow) -> Bool {
        payload == nil && sequences.isOpen && stores.contains(row.firstStore)
            && stores.contains(row.lastStore)
    }
}

/// A range of unsigned numbers, given by signed ones as SQL has them.
///
/// A number above 2^63 - 1 is a text in SQL, and a text is greater than every number.
struct Bounds: Equatable, Sendable {
    private var least: Int64?
    private var greatest: Int64?

    /// True where everything passes.
    var isOpen: Bool { least == nil && greatest == nil }

    /// The least number in it that SQL has as one.
    var first: Int64 { least ?? .min }
    /// The greatest number in it that SQL has as one.
    var last: Int64 { greatest ?? .max }

    mutating func raise(to bound: Int64) {
        least = max(least ?? bound, bound)
    }

    mutating func lower(to bound: Int64) {
        greatest = min(greatest ?? bound, bound)
    }

    func contains(_ number: UInt64) -> Bool {
        guard let value = Int64(exactly: number) else { return greatest == nil }
        return value >= least ?? .min && value <= greatest ?? .max
    }

    /// True if a number from `first` to `last` can be in it.
    func overlap(_ first: UInt64, _ last: UInt64) -> Bool {
        if let least, last < UInt64(clamping: least) { return false }
        if let greatest { return greatest >= 0 && first <= UInt64(greatest) }
        return true
    }
}
