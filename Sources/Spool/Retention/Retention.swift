internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Removes what the rules do not keep.
///
/// Invariants:
/// 1. Only whoever holds the `SegmentLock` runs one: nobody else changes the list of segments.
/// 2. A segment leaves the list, is noted as a file to unlink, and what was in it is written into
///    the book in one transaction; then its file is unlinked, and the note goes when that is on the
///    disk. After a crash in between, whoever opens the spool unlinks it. One of which a part goes
///    is replaced in that transaction by another file: see `Compaction.rewrite`.
/// 3. A full disk does not stop it: the ballast has the room that the transaction needs.
/// 4. Each transaction is short, so that commits get their turn between any two of them.
package struct Retention: ~Copyable {
    private let directory: String
    private let folder: SegmentFolder
    private let database: Database
    private let rules: RetentionRules
    private let limits: CompactionLimits
    private let hook: (RetentionStep) -> Void
    private let rewriteHook: (CompactionStep) -> Void
    private let shouldStop: () -> Bool
    /// Segments that turned out to be unreadable.
    private let unreadable: Set<String>
    private let ballast: Ballast

    /// Opens the spool in `directory`, which an agent of this version has opened before.
    ///
    /// - Parameters:
    ///   - limits: the sizes of segments.
    ///   - unreadable: segments that earlier runs could not rewrite.
    ///   - shouldStop: asked between steps; true ends a run as interrupted.
    ///   - hook: called at each moment of a run.
    ///   - rewriteHook: called at each moment of a rewriting.
    package init(
        directory: String,
        rules: RetentionRules,
        limits: CompactionLimits = CompactionLimits(),
        unreadable: Set<String> = [],
        shouldStop: @escaping () -> Bool = { false },
        hook: @escaping (RetentionStep) -> Void = { _ in },
        rewriteHook: @escaping (CompactionStep) -> Void = { _ in }
    ) throws {
        let database = try Database(path: Schema.database(directory), mode: .write)
        try Schema.settleWriter(database, .full)
        guard try Schema.hasAges(database) else {
            throw SpoolError(
                operation: "prune spool",
                subject: directory,
                cause: "it is of an older intel, whose agent runs",
                hint: "restart the agent: it brings the spool up to date",
                kind: .other
            )
        }
        self.directory = directory
        folder = SegmentFolder(spool: directory)
        self.database = database
        self.rules = rules
        self.limits = limits
        self.unreadable = unreadable
        self.hook = hook
        self.rewriteHook = rewriteHook
        self.shouldStop = shouldStop
        ballast = Ballast(spool: directory)
    }

    /// The clock of ages as it was stored.
    func clockState() throws -> AgeClock.State? {
        try AgeBook.state(database)
    }

    /// Removes what is to go.
    ///
    /// - Parameters:
    ///   - now: CLOCK_REALTIME, ns since 1970: for the book.
    ///   - isFull: true where a commit found no room: the ballast is given back first.
    package mutating func run(now: Int64, isFull: Bool = false) throws -> Outcome {
        try run(now: now, clock: AgeClock(nil, wall: now, boot: 0), isFull: isFull)
    }

    mutating func run(now: Int64, clock: AgeClock, isFull: Bool) throws -> Outcome {
        if isFull {
            ballast.release()
            // The log is often the largest file; what is in it has its place in hot.db.
            _ = try? database.checkpoint(.truncate)
        }
        // On a full disk even this may have no room; what is there is removed all the same.
        try? AgeBook.note(clock.state, database)
        let disk = try DiskSpace(at: directory)
        // Free pages are no records: they go first.
        if !isFull { try shrink(disk) }
        let view = try RetentionView(
            directory,
            database,
            disk,
            rules,
            now,
            clock.state.time,
            unreadable: unreadable
        )
        hook(.planned)
        var outcome = Outcome()
        outcome.unreadable = unreadable.intersection(view.plan.passedOver)
        try remove(view, now, &outcome)
        try RemovalBook.fold(database)
        if let first = view.firstStore {
            try AgeBook.thin(before: first, now: clock.state.time, database)
        }
        try shrink(disk)
        ballast.make(beside: rules.free(on: disk))
        hook(.done)
        tell(view.plan, clock, &outcome)
        return outcome
    }

    /// Fills in what is to be told.
    private func tell(
        _ plan: RetentionPlan,
        _ clock: AgeClock,
        _ outcome: inout Outcome
    ) {
        outcome.isUnfinished = plan.isUnfinished
        outcome.coldUpTo = plan.coldUpTo
        var left = plan.left
        outcome.bytes = RetentionView.bytes(directory)
        if let after = try? DiskSpace(at: directory) {
            (left.free, left.freeLeast) = (after.free, rules.free(on: after))
            left.bytesMax = rules.bytes(on: after)
        }
        left.bytes = outcome.bytes
        (outcome.bytesMax, outcome.free, outcome.freeLeast) =
            (left.bytesMax, left.free, left.freeLeast)
        outcome.warnings = RetentionWarnings.all(rules, left, unmet: plan.unmet)
        for name in outcome.unreadable.sorted() {
            outcome.warnings.append(
                "segment \(name) cannot be read, and keeps records that are to go"
            )
        }
        if clock.disbelieved > 0 {
            outcome.warnings.append(RetentionWarnings.clock(ahead: clock.disbelieved))
        }
    }

    private mutating func remove(
        _ view: RetentionView,
        _ now: Int64,
        _ outcome: inout Outcome
    ) throws {
        var hot: [RetentionPlan.Removal] = []
        for removal in view.plan.removals {
            if shouldStop() { throw SQLiteError.interrupted }
            guard case .segment(let segment) = removal.piece.place else {
                hot.append(removal)
                if hot.count == Limits.removedAtOnce {
                    try removeBatches(&hot, view, now, &outcome)
                }
                continue
            }
            try removeBatches(&hot, view, now, &outcome)
            if removal.isWhole {
                try unlist(segment, removal, view, now, &outcome)
                continue
            }
            do {
                try rewrite(segment, removal, view, now, &outcome)
            } catch {
                guard Self.isDamage(error) else { throw error }
                // What cannot be read stays until all of it is to go.
                outcome.unreadable.insert(segment.name)
            }
        }
        try removeBatches(&hot, view, now, &outcome)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        error is DamagedBatch || (error as? SQLiteError)?.isDamaged == true
    }

    /// Removes a segment as a whole.
    private func unlist(
        _ segment: SegmentRow,
        _ removal: RetentionPlan.Removal,
        _ view: RetentionView,
        _ now: Int64,
        _ outcome: inout Outcome
    ) throws {
        let spans = try view.spans(removal, now, database)
        try database.inTransaction {
            try Compaction.replace(segment, database)
            hook(.unlisted)
            try RemovalBook.note(spans, database)
        }
        hook(.committed)
        try Compaction.unlink(segment.name, folder, database) { hook(.unlinked) }
        outcome.add(spans)
    }

    private func rewrite(
        _ segment: SegmentRow,
        _ removal: RetentionPlan.Removal,
        _ view: RetentionView,
        _ now: Int64,
        _ outcome: inout Outcome
    ) throws {
        var compaction = try Compaction(
            directory: directory,
            limits: limits,
            shouldStop: shouldStop,
            hook: rewriteHook
        )
        switch try compaction.rewrite(removal, view.groups, now: now) {
        case .nothing: return
        case .everything: try unlist(segment, removal, view, now, &outcome)
        case .done(let spans):
            outcome.add(spans)
            outcome.rewritten += 1
        }
    }

    private func removeBatches(
        _ removals: inout [RetentionPlan.Removal],
        _ view: RetentionView,
        _ now: Int64,
        _ outcome: inout Outcome
    ) throws {
        if removals.isEmpty { return }
        var spans: [RemovedSpan] = []
        for removal in removals { spans += try view.spans(removal, now, database) }
        let numbers = removals.map { "\($0.piece.row.id)" }.joined(separator: ",")
        try database.inTransaction {
            try database.execute("DELETE FROM batch WHERE id IN (\(numbers))")
            try RemovalBook.note(spans, database)
            hook(.batchesDeleted)
        }
        hook(.committed)
        outcome.add(spans)
        removals = []
    }

    /// Gives pages of hot.db back to the file system, a slice at a time so that nobody waits long.
    ///
    /// Of a small spool a sixteenth may be free pages. A page that is moved goes through the log
    /// first: a slice takes a quarter of the disk's room at the most, and the log gives it back
    /// before the next. Otherwise a nearly full disk would be filled by what is to empty it.
    private func shrink(_ disk: DiskSpace) throws {
        var free = try database.integer("PRAGMA freelist_count") ?? 0
        let share = rules.bytes(on: disk) / 16 / Self.pageBytes
        let most = min(Int64(Limits.hotPagesFreeMax), Int64(clamping: share))
        guard free > most else { return }
        while free > most / 4 {
            // Each page is a row of the result: only stepping to the end does all of them.
            let room = try DiskSpace(at: directory).free / 4 / Self.pageBytes
            let pages = min(Self.pagesAtOnce, Int(clamping: room))
            if pages == 0 { return }
            let slice = try database.prepare("PRAGMA incremental_vacuum(\(pages))")
            while try slice.step() {}
            _ = try? database.checkpoint(.truncate)
            let left = try database.integer("PRAGMA freelist_count") ?? 0
            guard left < free else { return }
            free = left
            hook(.shrunk)
        }
    }

    private static var pagesAtOnce: Int { 500 }
    private static var pageBytes: UInt64 { 8192 }
}

/// The moments of one run, in their order; tests end the process at each of them.
package enum RetentionStep: String, CaseIterable, Sendable, Codable {
    /// It is known what goes.
    case planned
    /// In the transaction: a segment is off the list, and noted as to be unlinked.
    case unlisted
    /// A transaction is committed.
    case committed
    /// The file is gone, the note is still there.
    case unlinked
    /// In the transaction: hot batches are deleted.
    case batchesDeleted
    /// Some free pages are given back.
    case shrunk
    /// Nothing is left to do.
    case done
}
