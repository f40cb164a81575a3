internal import LinuxIO
internal import SQLite

extension SpoolReader {
    /// The batches of a segment that have to be looked at; none where it cannot be read, which is
    /// reported.
    ///
    /// - Throws: `Vanished` where the segment has become part of another.
    mutating func batches(of segment: SegmentRow, _ scan: inout Scan) throws -> [Scan.Row] {
        do {
            return try scan.batches(of: try file(segment.name))
        } catch let error as DamagedBatch {
            report(segment, error.reason, &scan)
        } catch let error as SQLiteError where error.isDamaged {
            report(segment, error.message, &scan)
        } catch let error as SQLiteError where error.isCannotOpen {
            let isThere = Files.exists(segments.file(segment.name))
            if try !isListed(segment.name) { throw Vanished() }
            if isThere { throw error }
            report(segment, "its file is gone", &scan)
        }
        return []
    }

    private func report(_ segment: SegmentRow, _ reason: String, _ scan: inout Scan) {
        let name = BatchName(segment: segment.name)
        scan.report.add(name, records: segment.row.count, reason: reason)
    }

    /// An open segment; the latest few are kept.
    mutating func file(_ name: String) throws -> SegmentFile {
        if let known = files.first(where: { $0.name == name }) { return known }
        let file = try SegmentFile(segments.file(name))
        if files.count >= SpoolLimits.segmentsOpen { files.removeFirst() }
        files.append(file)
        return file
    }

    /// True if a segment stands for a hot batch by now.
    func isMoved(_ batch: Int64) throws -> Bool {
        try Schema.hasSegments(database) && SegmentRow.covers(batch, database)
    }

    private func isListed(_ name: String) throws -> Bool {
        let find = try database.prepare("SELECT 1 FROM segment WHERE name = ?")
        try find.bind(1, name)
        return try find.step()
    }
}
