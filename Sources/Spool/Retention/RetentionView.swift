internal import LinuxIO
internal import SQLite

/// A spool as retention sees it at one moment, and what is to go of it.
struct RetentionView {
    private(set) var plan: RetentionPlan
    private(set) var groups: RetentionGroups
    /// The least store number of all; nil in an empty spool.
    private(set) var firstStore: UInt64?

    /// Looks, and plans.
    ///
    /// - Parameters:
    ///   - now: CLOCK_REALTIME, ns since 1970.
    ///   - time: the clock of ages, ns.
    ///   - unreadable: segments that cannot be rewritten.
    init(
        _ directory: String,
        _ database: borrowing Database,
        _ disk: DiskSpace,
        _ rules: RetentionRules,
        _ now: Int64,
        _ time: Int64,
        unreadable: Set<String> = []
    ) throws {
        var groups = try RetentionGroups(rules, database)
        var pieces = try Self.pieces(database, groups)
        for (index, piece) in pieces.enumerated() {
            guard case .segment(let segment) = piece.place else { continue }
            pieces[index].isReadable = !unreadable.contains(segment.name)
        }
        let ages = try Self.ages(pieces, rules, database, now, time)
        groups.setFloors { rule in
            guard let age = rule.flatMap({ rules.keeps[$0].age }) ?? rules.age else {
                return (0, 0)
            }
            return ages[age] ?? (0, 0)
        }
        var room = disk
        room.free -= min(room.free, Ballast(spool: directory).missing(on: disk))
        plan = RetentionPlan(
            pieces,
            bytes: Self.bytes(directory),
            disk: room,
            rules: rules,
            groups: groups
        )
        self.groups = groups
        firstStore = pieces.first?.row.firstStore
    }

    /// Bytes of everything in the spool's folder.
    static func bytes(_ directory: String) -> UInt64 {
        UInt64(clamping: SpoolSummary.fileBytes(directory) + Ballast(spool: directory).bytes)
    }

    /// Every segment and hot batch, oldest first.
    private static func pieces(
        _ database: borrowing Database,
        _ groups: RetentionGroups
    ) throws -> [RetentionPlan.Piece] {
        var pieces: [RetentionPlan.Piece] = []
        if try Schema.hasSegments(database) {
            let list = try database.prepare(
                "SELECT \(SegmentRow.columns) FROM segment ORDER BY lo"
            )
            while try list.step() {
                let segment = SegmentRow(list)
                pieces.append(
                    RetentionPlan.Piece(
                        place: .segment(segment),
                        bytes: UInt64(clamping: segment.bytes),
                        counts: counts(segment.row, list, groups)
                    )
                )
            }
        }
        let list = try database.prepare(
            "SELECT \(BatchRow.columns), length(data) FROM batch ORDER BY id"
        )
        while try list.step() {
            let row = BatchRow(list)
            pieces.append(
                RetentionPlan.Piece(
                    place: .batch(row),
                    bytes: UInt64(clamping: list.integer(9)),
                    counts: counts(row, list, groups)
                )
            )
        }
        // One that could not be compacted is older than segments.
        return pieces.sorted { $0.row.firstStore < $1.row.firstStore }
    }

    /// Records by group; nil where all count as one, or the row is damaged.
    private static func counts(
        _ row: BatchRow,
        _ list: borrowing Statement,
        _ groups: RetentionGroups
    ) -> [RetentionPlan.Count]? {
        guard groups.tellsApart, let own = list.withBlob(8, { row.groups(from: $0) }) else {
            return nil
        }
        var counts: [Int: Int] = [:]
        for one in own { counts[groups.group(one.stream), default: 0] += one.count }
        return counts.sorted { $0.key < $1.key }.map {
            RetentionPlan.Count(group: $0.key, records: $0.value)
        }
    }

    /// For each age of the rules, which records are past it, and by an eighth.
    private static func ages(
        _ pieces: [RetentionPlan.Piece],
        _ rules: RetentionRules,
        _ database: borrowing Database,
        _ now: Int64,
        _ time: Int64
    ) throws -> [UInt64: (age: UInt64, overdue: UInt64)] {
        var found: [UInt64: (age: UInt64, overdue: UInt64)] = [:]
        for age in Set(rules.keeps.compactMap(\.age) + [rules.age].compactMap { $0 }) {
            found[age] = (
                try floor(pieces, database, now.before(age), time.before(age)),
                try floor(
                    pieces,
                    database,
                    now.before(age &+ age / 8),
                    time.before(age &+ age / 8)
                )
            )
        }
        return found
    }

    /// The first store number that is not past a time.
    ///
    /// Of records from before there were marks, the order tells when they came.
    private static func floor(
        _ pieces: [RetentionPlan.Piece],
        _ database: borrowing Database,
        _ wall: Int64?,
        _ time: Int64?
    ) throws -> UInt64 {
        guard let wall, let time else { return 0 }
        let hasAges = try Schema.hasAges(database)
        let begin = hasAges ? try AgeBook.begin(database) : .max
        var floor = hasAges ? try AgeBook.floor(time, database) : 0
        for piece in pieces {
            guard piece.row.lastStore < begin, piece.row.t1 < wall else { break }
            floor = max(floor, piece.row.lastStore &+ 1)
        }
        return floor
    }

    // MARK: The book

    /// What goes with a piece, by peer and kind; of a part of one about.
    func spans(
        _ removal: RetentionPlan.Removal,
        _ now: Int64,
        _ database: borrowing Database
    ) throws -> [RemovedSpan] {
        let row = removal.piece.row
        var base = RemovedSpan()
        (base.since, base.removedAt) = (now, now)
        base.reason = removal.shares.first?.reason ?? .age
        base.records = UInt64(clamping: row.count)
        base.bytes = removal.piece.bytes
        base.stores = row.firstStore...max(row.firstStore, row.lastStore)
        base.times = min(row.time0, row.time1)...max(row.time0, row.time1)
        guard let own = try Self.streams(removal.piece, database) else { return [base] }
        let known = try RetentionNames(own, database)
        var counts: [Int64: Int] = [:]
        for group in own { counts[group.stream, default: 0] += group.count }
        return counts.sorted { $0.key < $1.key }.compactMap { stream, count in
            let group = groups.group(stream)
            guard let share = removal.shares.first(where: { $0.group == group }) else { return nil }
            var span = base
            (span.peer, span.kind) = known.names[stream] ?? ("", "")
            span.reason = share.reason
            let going = Double(count) * Double(share.going) / Double(max(1, share.records))
            span.records = UInt64(going.rounded())
            let part = going / Double(max(1, row.count))
            span.bytes = UInt64(Double(removal.piece.bytes) * part)
            return span.records > 0 ? span : nil
        }
    }

    private static func streams(
        _ piece: RetentionPlan.Piece,
        _ database: borrowing Database
    ) throws -> [BatchGroup]? {
        let find: Statement
        switch piece.place {
        case .segment: find = try database.prepare("SELECT streams FROM segment WHERE lo = ?")
        case .batch: find = try database.prepare("SELECT streams FROM batch WHERE id = ?")
        }
        try find.bind(1, piece.row.id)
        guard try find.step() else { return nil }
        return find.withBlob(0) { piece.row.groups(from: $0) }
    }
}

/// The names of some streams.
struct RetentionNames {
    private(set) var names: [Int64: (peer: String, kind: String)] = [:]

    init(_ groups: [BatchGroup], _ database: borrowing Database) throws {
        let find = try database.prepare("SELECT peer, kind FROM stream WHERE id = ?")
        for group in groups where names[group.stream] == nil {
            defer { find.reset() }
            try find.bind(1, group.stream)
            if try find.step() { names[group.stream] = (find.text(0), find.text(1)) }
        }
    }
}
