internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Moves records from the hot tier into segment files.
///
/// Invariants:
/// 1. Only whoever holds the `SegmentLock` has one, and only one.
/// 2. A batch leaves hot.db in the very transaction that lists the segment which has its records.
/// 3. That transaction begins when the segment is whole, compared with its source, and on the disk.
///    Its source is on the disk before it has its name, whatever the durability of commits.
/// 4. So what hot.db lists is the truth. A file that it does not list, and whose source is still
///    there, is what a crash has left: it is removed, and the work done again.
/// 5. What cannot be read stays where it is.
package struct Compaction: ~Copyable {
    /// What one step has made.
    package struct Made: Equatable, Sendable {
        /// The segment's file name.
        package var name: String
        package var records: Int
        /// Payload bytes.
        package var raw: Int
        /// Bytes of the file.
        package var bytes: Int64
    }

    let directory: String
    let folder: SegmentFolder
    let database: Database
    let limits: CompactionLimits
    let hook: (CompactionStep) -> Void
    let shouldStop: () -> Bool
    var encoder: ColumnBatchEncoder
    let cold: ColumnBatchDecoder
    var hot: BatchDecoder
    /// Payloads of the batch that is being packed.
    var gathered: [UInt8] = []
    /// Hot batches that could not be read.
    private var unreadable: Set<Int64> = []
    /// Files in the folder that are nobody's: hot.db knows neither them nor what they are made of.
    package private(set) var strays: [String] = []

    /// Opens the spool in `directory`, and removes what a crash has left.
    ///
    /// - Parameters:
    ///   - shouldStop: asked between batches; true ends a step as interrupted.
    ///   - hook: called at each moment of a compaction.
    package init(
        directory: String,
        limits: CompactionLimits = CompactionLimits(),
        shouldStop: @escaping () -> Bool = { false },
        hook: @escaping (CompactionStep) -> Void = { _ in }
    ) throws {
        let database = try Database(path: Schema.database(directory), mode: .write)
        // What is deleted here is on the disk as a segment only: no durability but the full one.
        try Schema.settleWriter(database, .full)
        let folder = SegmentFolder(spool: directory)
        let encoder = try ColumnBatchEncoder()
        let cold = try ColumnBatchDecoder()
        let hot = try BatchDecoder()
        let strays = try Self.tidy(folder, database)
        self.directory = directory
        self.folder = folder
        self.database = database
        self.limits = limits
        self.hook = hook
        self.shouldStop = shouldStop
        self.encoder = encoder
        self.cold = cold
        self.hot = hot
        self.strays = strays
    }

    /// Makes one segment if it is time to.
    ///
    /// - Parameters:
    ///   - isOld: true once the oldest hot batch has waited for `limits.age`.
    ///   - upTo: hot batches up to this number go in any case, and no others.
    /// - Returns: nil where there was nothing to do.
    package mutating func step(isOld: Bool = false, upTo: Int64? = nil) throws -> Made? {
        while true {
            let all = try candidates().filter { $0.row.id <= upTo ?? .max }
            let last = try SegmentRow.all(database).last
            var limits = limits
            if upTo != nil { (limits.hotBytes, limits.keptBytes) = (0, 0) }
            guard let plan = CompactionPlan(all, last: last, isOld: isOld, limits: limits) else {
                return nil
            }
            guard let window = try gather(plan) else { continue }
            return try make(plan, window)
        }
    }

    /// Bytes of the hot tier by now, and its batches.
    package func hotSize() throws -> (bytes: Int, batches: Int, oldest: Int64?) {
        let all = try candidates()
        return (all.reduce(0) { $0 + $1.row.weight }, all.count, all.first?.row.id)
    }

    /// Every hot batch, oldest first.
    private func candidates() throws -> [CompactionPlan.Candidate] {
        let list = try database.prepare(
            "SELECT \(BatchRow.columns), crc FROM batch ORDER BY id"
        )
        var found: [CompactionPlan.Candidate] = []
        while try list.step() {
            let row = BatchRow(list)
            let isSound = list.withBlob(8) { row.isSound($0) }
            found.append(
                CompactionPlan.Candidate(
                    row: row,
                    checksum: list.integer(9),
                    isReadable: isSound && !unreadable.contains(row.id)
                )
            )
        }
        return found
    }

    /// Unpacks what a plan says; nil where something turned out to be unreadable, which is noted.
    private mutating func gather(_ plan: CompactionPlan) throws -> CompactionWindow? {
        var window = CompactionWindow(records: plan.records, bytes: plan.bytes)
        if let joined = plan.joined {
            let file = try SegmentFile(folder.file(joined.name))
            var rows: [BatchRow] = []
            try file.forEach { row, _ in rows.append(row) }
            for row in rows {
                _ = try file.open(row, cold)
                window.add(try cold.envelopes(), try cold.payloads())
            }
        }
        let find = try database.prepare("SELECT data, crc, streams FROM batch WHERE id = ?")
        for candidate in plan.hot {
            if shouldStop() { throw SQLiteError.interrupted }
            defer { find.reset() }
            try find.bind(1, candidate.row.id)
            do {
                guard try find.step() else { throw DamagedBatch(reason: "its row is gone") }
                try add(candidate.row, find, to: &window)
            } catch is DamagedBatch {
                unreadable.insert(candidate.row.id)
                return nil
            }
        }
        window.sort()
        hook(.gathered)
        return window
    }

    private mutating func add(
        _ row: BatchRow,
        _ found: borrowing Statement,
        to window: inout CompactionWindow
    ) throws {
        guard let groups = found.withBlob(2, { row.groups(from: $0) }) else {
            throw DamagedBatch(reason: "its row is damaged")
        }
        let blob = found.blob(0)
        let checksum = found.integer(1)
        let result = blob.withUnsafeBytes { bytes in
            Result { () throws(DamagedBatch) in
                try hot.decode(
                    bytes,
                    row: row,
                    groups: groups,
                    checksum: checksum,
                    withPayload: true,
                    text: nil
                )
            }
        }
        guard let (columns, payload) = try result.get() else { return }
        window.add(row, groups, columns, payload)
    }

    /// Makes the segment, and has it take the place of what it was made of.
    private mutating func make(_ plan: CompactionPlan, _ window: CompactionWindow) throws -> Made {
        try folder.make()
        let source = CompactionPlan.source(plan.joined.map { [$0] } ?? [], plan.hot)
        let meta = SegmentSchema.Meta(lo: plan.lo, hi: plan.hi, source: source)
        let joined = plan.joined.map { [$0] } ?? []
        let (segment, groups) = try place(window, meta, turn: 0)
        try publish(segment, groups, replacing: joined) {
            try database.execute("DELETE FROM batch WHERE id BETWEEN \(plan.lo) AND \(plan.hi)")
        }
        return Made(
            name: segment.name,
            records: segment.row.count,
            raw: segment.row.raw,
            bytes: segment.bytes
        )
    }

    /// Lists a segment in the place of others, in one transaction with whatever `more` does, and
    /// then removes the files of those.
    func publish(
        _ segment: SegmentRow,
        _ groups: [BatchGroup],
        replacing old: [SegmentRow],
        _ more: () throws -> Void
    ) throws {
        try database.inTransaction {
            for one in old { try Self.replace(one, database) }
            try segment.insert(groups, database)
            hook(.listed)
            try more()
            hook(.deleted)
        }
        hook(.committed)
        for one in old { try Self.unlink(one.name, folder, database) { hook(.unlinked) } }
        hook(.done)
    }
}

extension Database {
    /// Does all of `body` in one transaction, or nothing.
    func inTransaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
