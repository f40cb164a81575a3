internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Moves records from the hot tier into segment files.
///
/// Invariants:
/// 1. Only the process that holds the spool's lock has one, and only one.
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
    private let limits: CompactionLimits
    private let hook: (CompactionStep) -> Void
    private let shouldStop: () -> Bool
    private var encoder: ColumnBatchEncoder
    let cold: ColumnBatchDecoder
    var hot: BatchDecoder
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
    /// - Parameter isOld: true once the oldest hot batch has waited for `limits.age`.
    /// - Returns: nil where there was nothing to do.
    package mutating func step(isOld: Bool = false) throws -> Made? {
        while true {
            let all = try candidates()
            let last = try SegmentRow.all(database).last
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
        let (segment, groups) = try write(window, meta)
        hook(.fileWritten)
        try compare(window)
        hook(.compared)
        try Files.sync(folder.temporary)
        // What it was made of, too: a segment without would be nobody's.
        try Files.sync(Schema.log(directory))
        hook(.fileSynced)
        try Files.rename(folder.temporary, to: folder.file(segment.name))
        hook(.renamed)
        try Files.sync(folder.path)
        hook(.folderSynced)
        try publish(plan, segment, groups)
        hook(.committed)
        if let joined = plan.joined {
            try Self.unlink(joined.name, folder, database) { hook(.unlinked) }
        }
        hook(.done)
        return Made(
            name: segment.name,
            records: segment.row.count,
            raw: segment.row.raw,
            bytes: segment.bytes
        )
    }

    private mutating func write(
        _ window: CompactionWindow,
        _ meta: SegmentSchema.Meta
    ) throws -> (SegmentRow, [BatchGroup]) {
        var writer = try SegmentWriter(path: folder.temporary)
        hook(.fileMade)
        for (index, portion) in window.portions.enumerated() {
            if shouldStop() { throw SQLiteError.interrupted }
            let records = window.records(portion)
            let (data, words) = try window.payloads.withUnsafeBytes { payloads in
                let data = try encoder.encode(records[...], payloads: payloads)
                let words = WordFilter(encoder, records, payloads)
                return (data, words.encode())
            }
            try writer.add(records, data: data, words: words)
            if index == 0 { hook(.batchWritten) }
        }
        try writer.finish(meta, database)
        var row = writer.row
        row.id = meta.lo
        let (groups, batches) = (writer.allGroups, writer.batches)
        _ = consume writer
        let segment = SegmentRow(
            name: SegmentFolder.name(row, hi: meta.hi),
            row: row,
            hi: meta.hi,
            batches: batches,
            bytes: Files.size(folder.temporary)
        )
        return (segment, groups)
    }

    /// Reads the file back and compares every record with its source, to the byte.
    private func compare(_ window: CompactionWindow) throws {
        let file = try SegmentFile(folder.temporary)
        var rows: [BatchRow] = []
        try file.forEach { row, _ in rows.append(row) }
        guard rows.count == window.portions.count else {
            throw DamagedBatch(reason: "the segment has other batches than were written")
        }
        for (row, portion) in zip(rows, window.portions) {
            _ = try file.open(row, cold)
            guard Self.isSame(try cold.envelopes(), try cold.payloads(), portion, window) else {
                throw DamagedBatch(reason: "batch \(row.id) of the segment is not what was written")
            }
        }
    }

    private static func isSame(
        _ envelopes: [ColumnRecord],
        _ payloads: ColumnBatchDecoder.Payloads,
        _ portion: Range<Int>,
        _ window: CompactionWindow
    ) -> Bool {
        guard envelopes.count == portion.count, payloads.ends.count == portion.count else {
            return false
        }
        return payloads.bytes.withUnsafeBytes { found in
            window.payloads.withUnsafeBytes { source in
                var start = 0
                for (index, place) in portion.enumerated() {
                    var record = window.records[Int(window.sorted[place])]
                    let end = payloads.ends[index]
                    let written = UnsafeRawBufferPointer(rebasing: source[record.payload])
                    let read = UnsafeRawBufferPointer(rebasing: found[start..<end])
                    guard MemorySearch.isEqual(read, written) else { return false }
                    record.payload = envelopes[index].payload
                    if record != envelopes[index] { return false }
                    start = end
                }
                return true
            }
        }
    }

    private func publish(
        _ plan: CompactionPlan,
        _ segment: SegmentRow,
        _ groups: [BatchGroup]
    ) throws {
        try database.execute("BEGIN IMMEDIATE")
        do {
            if let joined = plan.joined { try Self.replace(joined, database) }
            try segment.insert(groups, database)
            hook(.listed)
            try database.execute("DELETE FROM batch WHERE id BETWEEN \(plan.lo) AND \(plan.hi)")
            hook(.deleted)
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }
}
