internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// What a planner knows of a spool.
struct SpoolFigures {
    var records: UInt64 = 0
    var batches: UInt64 = 0
    var segments: UInt64 = 0
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
        reader.shouldStop = { watch.shouldStop() }
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
        known.segments = summary.segments
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
        return try reader.scan(query)
    }

    /// The same as an earlier scan, as it lies now.
    func scan(again old: Scan) throws -> Scan {
        try reader.scan(again: old)
    }

    /// The batch whose match a merge comes to next; nil at its end.
    func next(_ merge: inout RecordMerge) throws -> OpenBatch? {
        defer { watch.opened = reader.openedBatches }
        return try merge.next(&reader)
    }

    /// The batches of a segment that have to be looked at.
    func batches(of segment: SegmentRow, _ scan: inout Scan) throws -> [Scan.Row] {
        try reader.batches(of: segment, &scan)
    }

    /// Keeps what a scan could not read.
    func note(_ report: ScanReport) {
        watch.report.merge(report)
    }

    func open(
        _ row: Scan.Row,
        _ scan: inout Scan,
        withPayload: Bool,
        _ ahead: ReadAhead? = nil
    ) throws -> OpenBatch? {
        defer { watch.opened = reader.openedBatches }
        return try reader.open(row, &scan, withPayload: withPayload, ahead)
    }

    /// What the groups of a batch tell that a scan wants.
    func facts(_ row: Scan.Row, _ scan: borrowing Scan) throws -> [GroupFacts] {
        try factsIfListed(row, scan) ?? []
    }

    /// The same; nil where a compaction has taken the row off the list.
    func factsIfListed(_ row: Scan.Row, _ scan: borrowing Scan) throws -> [GroupFacts]? {
        try reader.groups(row)?.compactMap { group in
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

    /// What retention has removed.
    func removed() throws -> [RemovedSpan] {
        try reader.refresh()
        return try reader.removed()
    }

    /// Makes the rows of a table from a scan of everything; again where a compaction came between.
    func listing<Rows>(_ make: (inout Scan) throws -> Rows) throws -> Rows {
        while true {
            var scan = try scan(Query())
            do { return try make(&scan) } catch is Vanished {}
        }
    }

    /// Every batch of both tiers, from their plain columns.
    func everyBatch(_ scan: inout Scan) throws -> [Scan.Row] {
        var found: [Scan.Row] = []
        for row in scan.rows {
            if case .segment(let segment) = row.place {
                found += try batches(of: segment, &scan)
            } else {
                found.append(row)
            }
        }
        return found
    }

    /// Bytes of a batch as it is stored; nil where that cannot be read.
    func packed(_ listed: Scan.Row) throws -> Int64? {
        if case .cold(let file) = listed.place { return try file.packedBytes(listed.row.id) }
        do {
            let find = try reader.database.prepare("SELECT length(data) FROM batch WHERE id = ?")
            try find.bind(1, listed.row.id)
            return try find.step() ? find.integer(0) : nil
        } catch {
            // That it is damaged, the scan tells.
            guard error.isDamaged else { throw error }
            return nil
        }
    }

    private static func count(_ column: String, _ database: borrowing Database) throws -> Int64 {
        try database.integer("SELECT count(DISTINCT \(column)) FROM stream") ?? 0
    }
}
