internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Compares a segment with what hot.db says of it, and each of its batches with its row.
struct SegmentCheck {
    private let segment: SegmentRow
    private let catalog: Catalog
    private let cold: ColumnBatchDecoder
    private let isDeep: Bool

    /// - Parameter isDeep: true to put the payloads together and compare them with their checksum.
    init(
        _ segment: SegmentRow,
        _ catalog: Catalog,
        _ cold: ColumnBatchDecoder,
        isDeep: Bool
    ) {
        self.segment = segment
        self.catalog = catalog
        self.cold = cold
        self.isDeep = isDeep
    }

    /// Reads all of it; what is found is added to `found`.
    ///
    /// - Parameters:
    ///   - hot: the connection to hot.db.
    ///   - didRead: told the payload bytes of each batch.
    /// - Throws: where the file as a whole cannot be read.
    func run(
        _ path: String,
        _ hot: borrowing Database,
        _ found: inout Verification,
        didRead: (Int) -> Void
    ) throws {
        let file = try SegmentFile(path)
        if let cause = try file.structureFault() { note(cause, &found) }
        if Files.size(path) != segment.bytes {
            note("its file has another size than is listed", &found)
        }
        let meta = try file.meta()
        if meta.lo != segment.lo || meta.hi != segment.hi {
            note("it stands for other batches than is listed", &found)
        }
        var total = GroupTally()
        var raw = 0
        var isWhole = true
        /// Records that are in none of the rows that can be read.
        var hidden = segment.row.count
        var unreadable: [(id: Int64, cause: String)] = []
        // A damaged list may say any number.
        let last = (try? file.lastBatch()) ?? 1024
        for id in 1...max(1, min(Int64(segment.batches), last + 1)) {
            found.coldBatches += 1
            let row: BatchRow
            let groups: [BatchGroup]
            do {
                guard let read = try file.row(id) else {
                    throw DamagedBatch(reason: "its row is gone")
                }
                row = read.row
                hidden -= max(0, min(row.count, hidden))
                guard let sound = read.groups else {
                    found.add(name(id), records: plausible(row), "its row is damaged")
                    isWhole = false
                    continue
                }
                groups = sound
            } catch {
                unreadable.append((id, try VerifyWorker.cause(error)))
                isWhole = false
                continue
            }
            total.add(row, groups)
            raw += row.raw
            check(row, groups, file, &found)
            didRead(row.raw)
        }
        for (index, batch) in unreadable.enumerated() {
            found.add(name(batch.id), records: index == 0 ? hidden : 0, batch.cause)
        }
        if isWhole { try compare(total, raw, file, hot, &found) }
    }

    private func name(_ id: Int64) -> BatchName {
        BatchName(segment: segment.name, id: id)
    }

    private func note(_ cause: String, _ found: inout Verification) {
        found.add(BatchName(segment: segment.name), records: 0, cause)
    }

    /// A damaged row may say anything.
    private func plausible(_ row: BatchRow) -> Int {
        min(max(0, row.count), SpoolLimits.batchRecords, segment.row.count)
    }

    private func check(
        _ row: BatchRow,
        _ groups: [BatchGroup],
        _ file: SegmentFile,
        _ found: inout Verification
    ) {
        do {
            guard catalog.knows(groups) else {
                throw DamagedBatch(reason: "its names are not known")
            }
            let own = try file.open(row, cold)
            let records = try cold.envelopes()
            if isDeep { _ = try cold.payloads() }
            var tally = GroupTally()
            for record in records {
                tally.add(
                    stream: record.stream,
                    instance: record.instance,
                    record.envelope,
                    store: record.store
                )
            }
            if let cause = tally.difference(from: row, own, isHot: false) {
                throw DamagedBatch(reason: cause)
            }
            if let cause = try file.filterFault(row.id) {
                // Its records are sound; a search for a word unpacks it.
                found.add(name(row.id), records: 0, cause)
            }
            found.records += UInt64(row.count)
            found.rawBytes += UInt64(row.raw)
            found.packedBytes += UInt64(max(0, try file.packedBytes(row.id) ?? 0))
        } catch let error as DamagedBatch {
            found.add(name(row.id), records: row.count, error.reason)
        } catch {
            found.add(name(row.id), records: row.count, "\(error)")
        }
    }

    /// Compares the sum of all batches with the row that lists the segment, and the names.
    private func compare(
        _ total: GroupTally,
        _ raw: Int,
        _ file: SegmentFile,
        _ hot: borrowing Database,
        _ found: inout Verification
    ) throws {
        let list = try hot.prepare("SELECT \(SegmentRow.columns) FROM segment WHERE name = ?")
        try list.bind(1, segment.name)
        // Not listed any more: the caller looks that up where it matters.
        guard try list.step() else { return }
        let listed = SegmentRow(list)
        guard let groups = list.withBlob(8, { listed.row.groups(from: $0) }) else {
            return note("the row that lists it is damaged", &found)
        }
        if let cause = total.difference(from: listed.row, groups, isHot: false) {
            note("in the list of segments \(cause)", &found)
        }
        if raw != listed.row.raw { note("it has another size than is listed", &found) }
        if try file.batchCount() != Int64(listed.batches) {
            note("it has other batches than are listed", &found)
        }
        if try !file.names(groups, are: catalog) {
            note("its names are not those of hot.db", &found)
        }
    }
}

extension SegmentFile {
    /// What SQLite finds wrong with the pages; nil where all is well.
    func structureFault() throws -> String? {
        let check = try database.prepare("PRAGMA quick_check(1)")
        guard try check.step() else { return nil }
        let text = check.text(0)
        return text == "ok" ? nil : text
    }

    /// The plain columns of a batch, and its groups where the row is sound; nil where it is gone.
    func row(_ id: Int64) throws -> (row: BatchRow, groups: [BatchGroup]?)? {
        let list = try database.prepare("SELECT \(BatchRow.coldColumns) FROM batch WHERE id = ?")
        try list.bind(1, id)
        guard try list.step() else { return nil }
        let row = BatchRow(cold: list)
        return (row, list.withBlob(8) { row.groups(from: $0) })
    }

    /// Batches in it.
    func batchCount() throws -> Int64 {
        try database.integer("SELECT count(*) FROM batch") ?? 0
    }

    /// The greatest number of a batch.
    func lastBatch() throws -> Int64 {
        try database.integer("SELECT max(id) FROM batch") ?? 0
    }

    /// What is wrong with a batch's word filter; nil where all is well.
    func filterFault(_ batch: Int64) throws -> String? {
        let find = try database.prepare("SELECT bloom FROM words WHERE batch = \(batch)")
        guard try find.step(), !find.isNull(0) else { return "it has no word filter" }
        return WordFilter.bits(find.blob(0)) == nil ? "its word filter is damaged" : nil
    }

    /// True if the names of all groups are in the file, and the same as elsewhere.
    func names(_ groups: [BatchGroup], are catalog: Catalog) throws -> Bool {
        let streams = try database.prepare("SELECT id, peer, kind FROM stream")
        var kinds: [Int64: String] = [:]
        while try streams.step() { kinds[streams.integer(0)] = streams.text(2) }
        let instances = try database.prepare("SELECT id, peer, epoch FROM instance")
        var senders: [Int64: PeerInstance] = [:]
        while try instances.step() {
            senders[instances.integer(0)] = PeerInstance(
                identifier: instances.text(1),
                epoch: UInt64(bitPattern: instances.integer(2))
            )
        }
        return groups.allSatisfy { group in
            kinds[group.stream] == catalog.streams[group.stream]?.kind
                && senders[group.instance] == catalog.senders[group.instance]?.instance
        }
    }
}
