internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Removes what the rules do not keep.
///
/// Invariants:
/// 1. Only the thread that compacts has one: nobody else changes the list of segments.
/// 2. A segment leaves the list, is noted as a file to unlink, and is written into the book in one
///    transaction; then its file is unlinked, and the note goes when that is on the disk. After a
///    crash in between, whoever opens the spool unlinks it.
/// 3. A full disk does not stop it: the ballast has the room that the transaction needs.
package struct Retention: ~Copyable {
    /// What a run has found and done.
    package struct Outcome: Equatable, Sendable {
        /// What was removed, or would be, one for each reason.
        package var removed: [RemovedSpan] = []
        /// Bytes of everything in the spool's folder afterwards.
        package var bytes: UInt64 = 0
        /// What they may be.
        package var bytesMax: UInt64 = 0
        /// Bytes that are free on the file system afterwards, and that are to be.
        package var free: UInt64 = 0
        package var freeLeast: UInt64 = 0
    }

    private let directory: String
    private let folder: SegmentFolder
    private let database: Database
    private let rules: RetentionRules
    private let hook: (RetentionStep) -> Void
    private let ballast: Ballast

    /// Opens the spool in `directory`, whose writer is this process.
    package init(
        directory: String,
        rules: RetentionRules,
        hook: @escaping (RetentionStep) -> Void = { _ in }
    ) throws {
        let database = try Database(path: Schema.database(directory), mode: .write)
        try Schema.settleWriter(database, .full)
        self.directory = directory
        folder = SegmentFolder(spool: directory)
        self.database = database
        self.rules = rules
        self.hook = hook
        ballast = Ballast(spool: directory)
    }

    /// What the rules would remove now; nothing is changed.
    package static func preview(
        directory: String,
        rules: RetentionRules,
        now: Int64
    ) throws -> Outcome {
        let database = try Database(path: Schema.database(directory), mode: .read)
        try Schema.settle(database)
        let disk = try DiskSpace(at: directory)
        let plan = try plan(directory, database, disk, rules, now: now)
        var spans: [RemovedSpan] = []
        for removal in plan.removals { add(removal, now, to: &spans) }
        return Outcome(
            removed: spans,
            bytes: plan.bytes,
            bytesMax: rules.bytes(on: disk),
            free: disk.free,
            freeLeast: rules.free(on: disk)
        )
    }

    /// Removes what is to go, where no agent collects.
    ///
    /// - Throws: `SpoolError` of kind `.locked` where one does.
    package static func byHand(
        directory: String,
        rules: RetentionRules,
        now: Int64
    ) throws -> Outcome {
        // Holds the lock, and puts right what a crash has left.
        let writer = try SpoolWriter(directory: directory, durability: .full)
        _ = try Compaction(directory: directory)
        var retention = try Retention(directory: directory, rules: rules)
        let outcome = try retention.run(now: now)
        _ = consume writer
        return outcome
    }

    /// Removes what is to go.
    ///
    /// - Parameters:
    ///   - now: CLOCK_REALTIME, ns since 1970.
    ///   - isFull: true where a commit found no room: the ballast is given back first.
    package mutating func run(now: Int64, isFull: Bool = false) throws -> Outcome {
        if isFull {
            ballast.release()
            // The log is often the largest file; what is in it has its place in hot.db.
            _ = try? database.checkpoint(.truncate)
        }
        let disk = try DiskSpace(at: directory)
        let plan = try Self.plan(directory, database, disk, rules, now: now)
        var spans: [RemovedSpan] = []
        hook(.planned)
        for removal in plan.removals {
            guard case .segment(let segment) = removal.piece.place else { continue }
            try inTransaction {
                try Compaction.replace(segment, database)
                hook(.unlisted)
                try RemovalBook.note(Self.span(removal, now), database)
            }
            hook(.committed)
            try Compaction.unlink(segment.name, folder, database) { hook(.unlinked) }
            Self.add(removal, now, to: &spans)
        }
        try removeBatches(plan.removals, now, &spans)
        try shrink()
        ballast.make(beside: rules.free(on: disk))
        hook(.done)
        let after = try DiskSpace(at: directory)
        return Outcome(
            removed: spans,
            bytes: Self.bytes(directory),
            bytesMax: rules.bytes(on: after),
            free: after.free,
            freeLeast: rules.free(on: after)
        )
    }

    private func removeBatches(
        _ removals: [RetentionPlan.Removal],
        _ now: Int64,
        _ spans: inout [RemovedSpan]
    ) throws {
        var last: Int64?
        var hot: [RemovedSpan] = []
        for removal in removals {
            guard case .batch(let row) = removal.piece.place else { continue }
            last = row.id
            Self.add(removal, now, to: &hot)
            Self.add(removal, now, to: &spans)
        }
        guard let last else { return }
        try inTransaction {
            try database.execute("DELETE FROM batch WHERE id <= \(last)")
            for span in hot { try RemovalBook.note(span, database) }
            hook(.batchesDeleted)
        }
    }

    private func inTransaction(_ body: () throws -> Void) throws {
        try database.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// Gives pages of hot.db back to the file system, a slice at a time so that nobody waits long.
    private func shrink() throws {
        var free = try database.integer("PRAGMA freelist_count") ?? 0
        guard free > Int64(Limits.hotPagesFreeMax) else { return }
        while free > Int64(Limits.hotPagesFreeMax) / 4 {
            // Each page is a row of the result: only stepping to the end does all of them.
            let slice = try database.prepare("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))")
            while try slice.step() {}
            _ = try? database.checkpoint(.passive)
            let left = try database.integer("PRAGMA freelist_count") ?? 0
            guard left < free else { return }
            free = left
        }
    }

    private static var pagesAtOnce: Int { 500 }

    private static func bytes(_ directory: String) -> UInt64 {
        UInt64(clamping: SpoolSummary.fileBytes(directory) + Ballast(spool: directory).bytes)
    }

    private static func plan(
        _ directory: String,
        _ database: borrowing Database,
        _ disk: DiskSpace,
        _ rules: RetentionRules,
        now: Int64
    ) throws -> RetentionPlan {
        var pieces: [RetentionPlan.Piece] = []
        if try Schema.hasSegments(database) {
            pieces = try SegmentRow.all(database).map {
                RetentionPlan.Piece(place: .segment($0), bytes: UInt64(clamping: $0.bytes))
            }
        }
        let list = try database.prepare(
            "SELECT \(BatchRow.columns), length(data) FROM batch ORDER BY id"
        )
        while try list.step() {
            pieces.append(
                RetentionPlan.Piece(
                    place: .batch(BatchRow(list)),
                    bytes: UInt64(clamping: list.integer(9))
                )
            )
        }
        var room = disk
        room.free -= min(room.free, Ballast(spool: directory).missing(on: disk))
        return RetentionPlan(
            pieces,
            bytes: bytes(directory),
            disk: room,
            rules: rules,
            now: now
        )
    }

    private static func span(_ removal: RetentionPlan.Removal, _ now: Int64) -> RemovedSpan {
        let row = removal.piece.row
        var span = RemovedSpan()
        span.removedAt = now
        span.reason = removal.reason
        span.records = removal.piece.records
        span.bytes = removal.piece.bytes
        span.stores = row.firstStore...max(row.firstStore, row.lastStore)
        span.times = min(row.time0, row.time1)...max(row.time0, row.time1)
        return span
    }

    private static func add(
        _ removal: RetentionPlan.Removal,
        _ now: Int64,
        to spans: inout [RemovedSpan]
    ) {
        let span = span(removal, now)
        guard let index = spans.firstIndex(where: { $0.reason == span.reason }) else {
            return spans.append(span)
        }
        spans[index].join(span)
    }
}

/// The moments of one run, in their order; tests end the process at each of them.
package enum RetentionStep: String, CaseIterable, Sendable, Codable {
    /// It is known what goes.
    case planned
    /// In the transaction: a segment is off the list, and noted as to be unlinked.
    case unlisted
    /// The transaction is committed.
    case committed
    /// The file is gone, the note is still there.
    case unlinked
    /// In the transaction: hot batches are deleted.
    case batchesDeleted
    /// Nothing is left to do.
    case done
}

extension RemovedSpan {
    /// Takes another removal with the same reason in.
    mutating func join(_ other: RemovedSpan) {
        removedAt = max(removedAt, other.removedAt)
        records += other.records
        bytes += other.bytes
        stores =
            min(
                stores.lowerBound,
                other.stores.lowerBound
            )...max(
                stores.upperBound,
                other.stores.upperBound
            )
        times =
            min(
                times.lowerBound,
                other.times.lowerBound
            )...max(
                times.upperBound,
                other.times.upperBound
            )
    }
}
