internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

extension SalvageJob {
    /// Copies sound segments, and mends the others.
    ///
    /// - Parameter isListWhole: false where files that are not listed may be history as well.
    mutating func saveSegments(isListWhole: Bool) throws {
        let catalog = try Catalog(out, Query())
        var listed: [(row: SegmentRow, streams: [UInt8])] = []
        let list = try out.prepare("SELECT \(SegmentRow.columns) FROM segment ORDER BY lo")
        while try list.step() { listed.append((SegmentRow(list), list.blob(8))) }
        var taken: [ClosedRange<Int64>] = []
        for (segment, streams) in listed {
            try out.execute("DELETE FROM segment WHERE lo = \(segment.lo)")
            guard segment.lo <= segment.hi, Self.isName(segment.name) else { continue }
            try save(segment, streams, catalog)
            taken.append(segment.lo...segment.hi)
        }
        if isListWhole { return }
        let names = Set(listed.map(\.row.name))
        var others = from.names.filter { !names.contains($0) }.map { adopted($0) }
        // Of two that stand for the same, the one that stands for more is the later one.
        others.sort { $0.hi - $0.lo > $1.hi - $1.lo }
        for other in others {
            if taken.contains(where: { $0.overlaps(other.lo...other.hi) }) { continue }
            try save(other, [], catalog)
            taken.append(other.lo...other.hi)
        }
    }

    /// A damaged list may name any file.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.contains("/") && !name.hasPrefix(".")
    }

    /// What a file that is not listed says of itself; its name has the last batch it stands for.
    private func adopted(_ name: String) -> SegmentRow {
        var row = BatchRow(cold: 0)
        let end = name.split(separator: "-").last?.split(separator: ".").first
        let number = end.flatMap { Int64($0) } ?? 0
        var hi = max(1, number)
        row.id = hi
        var batches = 0
        if let file = try? SegmentFile(from.file(name)) {
            if let meta = try? file.meta(), meta.lo <= meta.hi, meta.lo > 0 {
                (row.id, hi) = (meta.lo, meta.hi)
            }
            try? file.forEach { batch, _ in
                row.add(batch)
                batches += 1
            }
        }
        let bytes = Files.size(from.file(name))
        return SegmentRow(name: name, row: row, hi: hi, batches: batches, bytes: bytes)
    }

    private mutating func save(
        _ segment: SegmentRow,
        _ streams: [UInt8],
        _ catalog: Catalog
    ) throws {
        let path = from.file(segment.name)
        let name = BatchName(segment: segment.name)
        guard Files.exists(path) else {
            return outcome.lose(name, records: segment.row.count, "its file is gone")
        }
        if !streams.isEmpty {
            try segment.insert(streams: streams, out)
            let groups = streams.withUnsafeBytes { segment.row.groups(from: $0) }
            if isInPlace, let groups, Files.size(path) == segment.bytes {
                try ensureNames(Set(groups.map(\.stream)), Set(groups.map(\.instance)))
                try Files.linkOrCopy(path, to: to.file(segment.name))
                outcome.wholeSegments += 1
                return
            }
            var found = Verification()
            let check = SegmentCheck(segment, catalog, cold, isDeep: true)
            if (try? check.run(path, out, &found, didRead: { _ in })) != nil, found.isSound {
                try Files.copy(path, to: to.temporary)
                try Files.rename(to.temporary, to: to.file(segment.name))
                outcome.wholeSegments += 1
                return
            }
            try out.execute("DELETE FROM segment WHERE lo = \(segment.lo)")
        }
        try mend(segment, path)
    }

    /// Writes a segment anew from the batches that can be read.
    private mutating func mend(_ segment: SegmentRow, _ path: String) throws {
        var writer = try SegmentWriter(path: to.temporary)
        var known: Set<UInt64> = []
        var causes: [String] = []
        var segment = segment
        if let file = try? SegmentFile(path) {
            // The list that names it may be damaged.
            if let meta = try? file.meta(), meta.lo > 0, meta.lo <= meta.hi {
                (segment.row.id, segment.hi) = (meta.lo, meta.hi)
            }
            var walk = TableWalk()
            try walk.forEach("batch", last: Int64(clamping: segment.batches), file.database) {
                if let cause = try add($0.blob(12), &writer, &known) { causes.append(cause) }
            }
        }
        // A batch that came by its number is known by its bytes.
        let pages = try PageFile(path, standard: 1024)
        try SalvagedTable.coldBatches.forEach(in: pages) { row in
            guard case .blob(let data) = row.values[12] else { return false }
            return try add(data, &writer, &known) == nil
        }
        let saved = writer.row.count
        let total = max(min(segment.row.count, SpoolLimits.segmentRecords), saved)
        if saved < total || saved == 0 {
            let cause = causes.first ?? "batches cannot be read"
            outcome.lose(BatchName(segment: segment.name), records: total - saved, cause)
        }
        guard saved > 0 else {
            _ = consume writer
            return try Files.remove(to.temporary)
        }
        try writer.finish(SegmentSchema.Meta(lo: segment.lo, hi: segment.hi, source: 0), out)
        var row = writer.row
        row.id = segment.lo
        let (groups, batches) = (writer.allGroups, writer.batches)
        _ = consume writer
        try Files.sync(to.temporary)
        let made = SegmentRow(
            name: SegmentFolder.name(
                row,
                hi: segment.hi,
                turn: SegmentFolder.turn(segment.name)
            ),
            row: row,
            hi: segment.hi,
            batches: batches,
            bytes: Files.size(to.temporary)
        )
        let isTaken = try out.integer("SELECT 1 FROM segment WHERE lo = \(segment.lo)") != nil
        if isTaken || Files.exists(to.file(made.name)) {
            let cause = "another segment stands for the same"
            outcome.lose(BatchName(segment: segment.name), records: saved, cause)
            return try Files.remove(to.temporary)
        }
        try Files.rename(to.temporary, to: to.file(made.name))
        try made.insert(groups, out)
        outcome.mendedSegments += 1
    }

    /// Adds a batch that can be unpacked; else says what is wrong with it.
    ///
    /// - Parameter known: those that are in already; one of them is no damage.
    private mutating func add(
        _ data: [UInt8],
        _ writer: inout SegmentWriter,
        _ known: inout Set<UInt64>
    ) throws -> String? {
        let mark = UInt64(Checksum.crc32c(data)) << 32 | UInt64(truncatingIfNeeded: data.count)
        if known.contains(mark) { return nil }
        var records: [ColumnRecord]
        let payloads: ColumnBatchDecoder.Payloads
        do {
            (records, payloads) = try Self.unpack(data, cold)
        } catch {
            guard let damaged = error as? DamagedBatch else { throw error }
            return damaged.reason
        }
        known.insert(mark)
        var words = WordFilter()
        var start = 0
        payloads.bytes.withUnsafeBytes { bytes in
            for (index, end) in payloads.ends.enumerated() {
                records[index].payload = start..<end
                words.add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
        try ensureNames(Set(records.map(\.stream)), Set(records.map(\.instance)))
        try writer.add(records, data: data, words: words.encode())
        return nil
    }

    private static func unpack(
        _ data: [UInt8],
        _ cold: ColumnBatchDecoder
    ) throws -> ([ColumnRecord], ColumnBatchDecoder.Payloads) {
        try data.withUnsafeBytes { try cold.open($0) }
        return (try cold.envelopes(), try cold.payloads())
    }
}
