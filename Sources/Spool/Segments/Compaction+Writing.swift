internal import Basics
internal import LinuxIO
internal import SQLite

/// How a segment comes to the disk.
extension Compaction {
    /// Writes a segment, compares it with its source, and gives it its name, all of it on the disk.
    ///
    /// - Parameter turn: how often it was rewritten by now.
    mutating func place(
        _ window: CompactionWindow,
        _ meta: SegmentSchema.Meta,
        turn: Int
    ) throws -> (SegmentRow, [BatchGroup]) {
        let (segment, groups) = try write(window, meta, turn: turn)
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
        return (segment, groups)
    }

    private mutating func write(
        _ window: CompactionWindow,
        _ meta: SegmentSchema.Meta,
        turn: Int
    ) throws -> (SegmentRow, [BatchGroup]) {
        var writer = try SegmentWriter(path: folder.temporary)
        // Where root works on the spool of another user, that one goes on with the file.
        try Files.give(folder.temporary, toOwnerOf: Schema.database(directory))
        hook(.fileMade)
        for (index, unit) in window.units.enumerated() {
            if shouldStop() { throw SQLiteError.interrupted }
            switch unit {
            case .records(let portion): try add(window, portion, to: &writer)
            case .copy(let copy):
                let packed = try copy.file.packed(copy.row.id)
                try writer.add(copy.row, copy.groups, data: packed.data, words: packed.words)
            }
            if index == 0 { hook(.batchWritten) }
        }
        try writer.finish(meta, database)
        var row = writer.row
        row.id = meta.lo
        let (groups, batches) = (writer.allGroups, writer.batches)
        _ = consume writer
        let segment = SegmentRow(
            name: SegmentFolder.name(row, hi: meta.hi, turn: turn),
            row: row,
            hi: meta.hi,
            batches: batches,
            bytes: Files.size(folder.temporary)
        )
        return (segment, groups)
    }

    private mutating func add(
        _ window: CompactionWindow,
        _ portion: Range<Int>,
        to writer: inout SegmentWriter
    ) throws {
        let records = window.gather(portion, into: &gathered)
        let (data, words) = try gathered.withUnsafeBytes { payloads in
            let data = try encoder.encode(records[...], payloads: payloads)
            let words = WordFilter(encoder, records, payloads)
            return (data, words.encode())
        }
        try writer.add(records, data: data, words: words)
    }

    /// Reads the file back and compares every record with its source, to the byte.
    private func compare(_ window: CompactionWindow) throws {
        let file = try SegmentFile(folder.temporary)
        var rows: [BatchRow] = []
        try file.forEach { row, _ in rows.append(row) }
        guard rows.count == window.units.count else {
            throw DamagedBatch(reason: "the segment has other batches than were written")
        }
        for (row, unit) in zip(rows, window.units) {
            let isSame: Bool
            switch unit {
            case .records(let portion):
                _ = try file.open(row, cold)
                isSame = Self.isSame(try cold.envelopes(), try cold.payloads(), portion, window)
            case .copy(let copy): isSame = try Self.isSame(row, file, copy)
            }
            guard isSame else {
                throw DamagedBatch(reason: "batch \(row.id) of the segment is not what was written")
            }
        }
    }

    private static func isSame(
        _ row: BatchRow,
        _ file: SegmentFile,
        _ copy: CompactionWindow.Copy
    ) throws -> Bool {
        var known = copy.row
        known.id = row.id
        return try row == known && file.groups(row) == copy.groups
            && file.packed(row.id) == copy.file.packed(copy.row.id)
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
                    var record = window[place]
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
}
