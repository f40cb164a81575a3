internal import LinuxIO
internal import SQLite

/// What a crash between two steps leaves, and how it goes.
extension Compaction {
    /// Takes a segment off the list; that its file is to go is noted in the same transaction.
    static func replace(_ segment: SegmentRow, _ database: borrowing Database) throws {
        let note = try database.prepare("INSERT OR IGNORE INTO removal(name) VALUES(?)")
        try note.bind(1, segment.name)
        try note.run()
        try database.execute("DELETE FROM segment WHERE lo = \(segment.lo)")
    }

    /// Removes a file whose removal is noted, and then the note.
    static func unlink(
        _ name: String,
        _ folder: SegmentFolder,
        _ database: borrowing Database,
        between hook: () -> Void = {}
    ) throws {
        try Files.remove(folder.file(name))
        hook()
        // A file that came back without its note would be nobody's.
        if Files.exists(folder.path) { try Files.sync(folder.path) }
        let forget = try database.prepare("DELETE FROM removal WHERE name = ?")
        try forget.bind(1, name)
        try forget.run()
    }

    /// Removes leftovers; files that are nobody's are left and named.
    static func tidy(
        _ folder: SegmentFolder,
        _ database: borrowing Database
    ) throws -> [String] {
        guard Files.exists(folder.path) else { return [] }
        try folder.removeUnfinished()
        let noted = try database.prepare("SELECT name FROM removal")
        var leaving: [String] = []
        while try noted.step() { leaving.append(noted.text(0)) }
        for name in leaving { try unlink(name, folder, database) }
        let segments = try SegmentRow.all(database)
        let listed = Set(segments.map(\.name))
        var strays: [String] = []
        for name in folder.names where !listed.contains(name) {
            if try canBeMadeAgain(folder.file(name), segments, database) {
                try Files.remove(folder.file(name))
                try Files.sync(folder.path)
            } else {
                strays.append(name)
            }
        }
        return strays
    }

    /// True if all that a file was made of is there, unchanged.
    private static func canBeMadeAgain(
        _ path: String,
        _ segments: [SegmentRow],
        _ database: borrowing Database
    ) throws -> Bool {
        guard let meta = try? SegmentFile(path).meta() else { return false }
        let joined = segments.filter { $0.lo >= meta.lo && $0.hi <= meta.hi }
        let list = try database.prepare(
            "SELECT \(BatchRow.columns), crc FROM batch WHERE id BETWEEN ? AND ? ORDER BY id"
        )
        try list.bind(1, meta.lo)
        try list.bind(2, meta.hi)
        var hot: [CompactionPlan.Candidate] = []
        while try list.step() {
            hot.append(
                CompactionPlan.Candidate(row: BatchRow(list), checksum: list.integer(9))
            )
        }
        return !(joined.isEmpty && hot.isEmpty)
            && CompactionPlan.source(joined, hot) == meta.source
    }
}
