internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// What a planner knows of a spool.
struct SpoolFigures {
    var records: UInt64 = 0
    var batches: UInt64 = 0
    var oldest: Int64 = 0
    var newest: Int64 = 0
    /// Different peers, at least 1.
    var peers: Int64 = 1
    /// Different kinds, at least 1.
    var kinds: Int64 = 1
}

/// What the tables of one connection share: what they met, what they opened, whether to stop.
final class SQLWatch {
    /// Damaged batches that statements have passed over.
    var report = ScanReport()
    /// Peers whose books are damaged.
    var damagedPeers: Set<PeerInstance> = []
    /// Batches that statements have unpacked.
    var opened: UInt64 = 0
    /// Asked before each batch; true ends the statement as interrupted.
    var shouldStop: () -> Bool = { false }
}

/// One spool folder as the tables of a connection read it.
///
/// The thread that runs the statements owns it.
final class SpoolSource {
    private var reader: SpoolReader
    let watch: SQLWatch
    private var known = SpoolFigures()
    /// Boot time, ns, at which `known` was read.
    private var knownAt: UInt64?

    init(_ directory: String, _ watch: SQLWatch) throws {
        reader = try SpoolReader(directory: directory)
        self.watch = watch
        // In KiB: the pages of a whole hot tier, so that a join that comes back for each of its
        // rows does not read the list of batches from the file each time.
        try reader.database.execute("PRAGMA cache_size=-16384")
    }

    /// Estimates are read again after this long, in ns.
    private static let patience: UInt64 = 5_000_000_000

    /// Figures for the planner, some seconds old at the most.
    func figures() throws -> SpoolFigures {
        let now = Clock.system.boot()
        if let knownAt, now &- knownAt < Self.patience { return known }
        try reader.refresh()
        let summary = try reader.summary()
        known.records = summary.records
        known.batches = summary.batches
        known.oldest = summary.oldestTime ?? 0
        known.newest = summary.newestTime ?? 0
        known.peers = max(1, try Self.count("peer", reader.database))
        known.kinds = max(1, try Self.count("kind", reader.database))
        knownAt = now
        return known
    }

    /// The batches that a query may have to open, as they are now.
    func scan(_ query: Query) throws -> Scan {
        try reader.refresh()
        return try Scan(reader.database, query)
    }

    /// Keeps what a scan could not read.
    func note(_ report: ScanReport) {
        watch.report.merge(report)
    }

    func open(
        _ row: BatchRow,
        _ scan: inout Scan,
        withPayload: Bool
    ) throws -> OpenBatch? {
        try checkStop()
        watch.opened += 1
        return try reader.open(row, &scan, withPayload: withPayload)
    }

    func wake(_ batch: OpenBatch, _ scan: inout Scan, withPayload: Bool) throws -> Bool {
        try checkStop()
        watch.opened += 1
        return try reader.wake(batch, &scan, withPayload: withPayload)
    }

    /// What the groups of a batch tell that a scan wants.
    func facts(_ row: BatchRow, _ scan: borrowing Scan) throws -> [GroupFacts] {
        let groups = try reader.groups(row) ?? []
        return groups.compactMap { group in
            guard scan.catalog.wants(group, scan.query),
                let sender = scan.catalog.senders[group.instance],
                let stream = scan.catalog.streams[group.stream]
            else { return nil }
            return GroupFacts(
                count: group.count,
                instance: sender.instance,
                pid: sender.pid,
                uid: sender.uid,
                kind: stream.kind,
                level: group.level
            )
        }
    }

    /// The books of every peer.
    func peers() throws -> [PeerState] {
        try reader.refresh()
        var found: [PeerState] = []
        let damaged = try reader.forEachPeer { found.append($0) }
        for instance in damaged {
            watch.damagedPeers.insert(instance)
        }
        return found
    }

    /// Every recorded loss.
    func losses() throws -> [Loss] {
        try reader.refresh()
        return try reader.losses()
    }

    /// Bytes of each batch as it is stored.
    func packedBytes() throws -> [Int64: Int64] {
        let rows = try reader.database.prepare("SELECT id, length(data) FROM batch")
        var found: [Int64: Int64] = [:]
        do {
            while try rows.step() { found[rows.integer(0)] = rows.integer(1) }
        } catch {
            // Behind a damaged page sizes are not known; that it is damaged, the scan tells.
            guard error.isDamaged else { throw error }
        }
        return found
    }

    private func checkStop() throws {
        if watch.shouldStop() { throw SQLiteError.interrupted }
    }

    private static func count(_ column: String, _ database: borrowing Database) throws -> Int64 {
        try database.integer("SELECT count(DISTINCT \(column)) FROM stream") ?? 0
    }
}
