internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Takes records out of a segment, which is written anew without them.
///
/// The way is that of compaction, with its moments and its invariants: until the transaction that
/// lists the new file, the old one is the truth. Batches of one stream that stay whole are taken as
/// they are.
extension Compaction {
    /// What a rewriting has come to.
    enum Rewriting {
        /// Nothing of it is to go.
        case nothing
        /// All of it is to go: nothing was done.
        case everything
        /// The segment is replaced; what is gone is in the book.
        case done([RemovedSpan])
    }

    /// Takes out what the shares of a removal say.
    ///
    /// - Parameter now: when, for the book; ns since 1970.
    /// - Throws: `DamagedBatch` where it cannot be read; then nothing was changed.
    mutating func rewrite(
        _ removal: RetentionPlan.Removal,
        _ groups: RetentionGroups,
        now: Int64
    ) throws -> Rewriting {
        guard case .segment(let segment) = removal.piece.place else { return .nothing }
        let file = try SegmentFile(folder.file(segment.name))
        let cut = try SegmentCut(file, removal.shares, groups, cold)
        if cut.going == 0 { return .nothing }
        if cut.going == segment.row.count { return .everything }
        var window = CompactionWindow(records: segment.row.count, bytes: segment.row.raw)
        let joined = try smallNeighbour(of: segment, staying: segment.row.count - cut.going)
        if let joined {
            let other = try SegmentFile(folder.file(joined.name))
            try gather(other, nil, into: &window)
        }
        try gather(file, cut, into: &window)
        window.sort()
        hook(.gathered)
        let staying = segment.row.count - cut.going + (joined?.row.count ?? 0)
        guard window.count == staying else {
            throw DamagedBatch(reason: "it has other records than are listed")
        }
        let sources = (joined.map { [$0] } ?? []) + [segment]
        let meta = SegmentSchema.Meta(
            lo: sources[0].lo,
            hi: segment.hi,
            source: CompactionPlan.source(sources, [])
        )
        let turn = (sources.map { SegmentFolder.turn($0.name) }.max() ?? 0) + 1
        let (made, groups) = try place(window, meta, turn: turn)
        let freed = sources.reduce(-made.bytes) { $0 + $1.bytes }
        let spans = try cut.spans(bytes: UInt64(max(0, freed)), now: now, database)
        try publish(made, groups, replacing: sources) { try RemovalBook.note(spans, database) }
        return .done(spans)
    }

    /// The segment before one that is to become small, if the two of them make one of a good size:
    /// otherwise small files would pile up.
    private func smallNeighbour(of segment: SegmentRow, staying: Int) throws -> SegmentRow? {
        let all = try SegmentRow.all(database)
        guard let place = all.firstIndex(where: { $0.lo == segment.lo }), place > 0 else {
            return nil
        }
        let before = all[place - 1]
        let share = Double(staying) / Double(max(1, segment.row.count))
        let weight = Int(Double(segment.row.weight) * share)
        guard before.row.weight < limits.smallBytes,
            before.row.weight + weight <= limits.segmentBytes
        else { return nil }
        // No other hot batch lies between the two.
        let between = "SELECT count(*) FROM batch WHERE id BETWEEN \(before.lo) AND \(segment.hi)"
        return try database.integer(between) == 0 ? before : nil
    }

    /// Takes in the batches of a segment, as they are or without what goes.
    private func gather(
        _ file: SegmentFile,
        _ cut: SegmentCut?,
        into window: inout CompactionWindow
    ) throws {
        var rows: [BatchRow] = []
        try file.forEach { row, _ in rows.append(row) }
        for row in rows {
            if shouldStop() { throw SQLiteError.interrupted }
            let going = cut?.goingOf[row.id] ?? 0
            if going == row.count { continue }
            guard let groups = try file.groups(row) else {
                throw DamagedBatch(reason: "its row is damaged")
            }
            let isOfOne = groups.allSatisfy { $0.stream == groups.first?.stream }
            if going == 0, isOfOne, row.raw >= SpoolLimits.coldBatchBytes / 4 {
                window.take(CompactionWindow.Copy(file: file, row: row, groups: groups))
                continue
            }
            _ = try file.open(row, cold)
            window.add(try cold.envelopes(), try cold.payloads()) { record in
                cut?.takes(record) != true
            }
        }
    }
}

/// Which records of a segment go: of each group all up to one of them.
struct SegmentCut {
    private let groups: RetentionGroups
    /// The last store number that goes, and why, by group.
    private var bounds: [Int: (last: UInt64, reason: RemovalReason)] = [:]
    /// Records that go.
    private(set) var going = 0
    /// The same by batch.
    private(set) var goingOf: [Int64: Int] = [:]
    private var gone: [Int64: RemovedSpan] = [:]

    /// Looks for the oldest of each share in the numbers of the batches, not in the payloads.
    init(
        _ file: SegmentFile,
        _ shares: [RetentionPlan.Share],
        _ groups: RetentionGroups,
        _ cold: ColumnBatchDecoder
    ) throws {
        self.groups = groups
        var rows: [BatchRow] = []
        try file.forEach { row, _ in rows.append(row) }
        let wanted = Set(shares.map(\.group))
        var stores: [Int: [UInt64]] = [:]
        var records: [(batch: Int64, record: ColumnRecord)] = []
        for row in rows {
            guard let own = try file.groups(row) else {
                throw DamagedBatch(reason: "its row is damaged")
            }
            guard own.contains(where: { wanted.contains(groups.group($0.stream)) }) else {
                continue
            }
            _ = try file.open(row, cold)
            for record in try cold.envelopes() {
                let group = groups.group(record.stream)
                guard wanted.contains(group) else { continue }
                stores[group, default: []].append(record.store)
                records.append((row.id, record))
            }
        }
        for share in shares {
            let own = (stores[share.group] ?? []).sorted()
            setBound(share, own)
        }
        for (batch, record) in records where takes(record) {
            going += 1
            goingOf[batch, default: 0] += 1
            add(record)
        }
    }

    private mutating func setBound(_ share: RetentionPlan.Share, _ stores: [UInt64]) {
        let floor = groups.all[share.group].ageFloor
        let pastAge = stores.firstIndex { $0 >= floor } ?? stores.count
        var exact = share
        exact.records = stores.count
        let count = exact.going(pastAge: pastAge)
        guard count > 0, count <= stores.count else { return }
        var reason = share.isForced ? share.reason : .records
        if pastAge >= count { reason = .age } else if share.excess >= count { reason = .records }
        bounds[share.group] = (stores[count - 1], reason)
    }

    /// True if a record goes.
    func takes(_ record: ColumnRecord) -> Bool {
        guard let bound = bounds[groups.group(record.stream)] else { return false }
        return record.store <= bound.last
    }

    private mutating func add(_ record: ColumnRecord) {
        var span = RemovedSpan()
        span.records = 1
        span.stores = record.store...record.store
        span.times = record.envelope.time...record.envelope.time
        guard var known = gone[record.stream] else {
            span.reason = bounds[groups.group(record.stream)]?.reason ?? .age
            gone[record.stream] = span
            return
        }
        known.stores = known.stores.joined(span.stores)
        known.times = known.times.joined(span.times)
        known.records += 1
        gone[record.stream] = known
    }

    /// What goes, by peer and kind.
    ///
    /// - Parameter bytes: what all of it took on the disk.
    func spans(
        bytes: UInt64,
        now: Int64,
        _ database: borrowing Database
    ) throws -> [RemovedSpan] {
        var found: [RemovedSpan] = []
        let names = try database.prepare("SELECT peer, kind FROM stream WHERE id = ?")
        for (stream, known) in gone.sorted(by: { $0.key < $1.key }) {
            var span = known
            (span.since, span.removedAt) = (now, now)
            let part = Double(known.records) / Double(max(1, going))
            span.bytes = UInt64(Double(bytes) * part)
            defer { names.reset() }
            try names.bind(1, stream)
            if try names.step() { (span.peer, span.kind) = (names.text(0), names.text(1)) }
            found.append(span)
        }
        return found
    }
}
