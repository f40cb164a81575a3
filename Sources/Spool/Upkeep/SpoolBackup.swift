internal import LinuxIO
internal import SQLite

/// Keeps a copy of a spool in another folder, which is a spool itself.
///
/// Invariants:
/// 1. The backup's hot.db is a whole copy of one moment, and takes the place of the one before by a
///    rename, when every segment that it lists is in the folder and on the disk.
/// 2. Before that rename nothing that the backup before lists is changed or removed; after it, only
///    segments whose records are in others that are listed.
/// 3. Segments are never changed, so that a second name is as good as a copy.
/// 4. Nothing is ever written to the spool, nor to a hot.db of the backup that has its name.
public struct SpoolBackup {
    /// What a backup has done.
    public struct Made: Equatable, Sendable {
        /// Records that the backup holds.
        public var records: UInt64 = 0
        /// Segments that it holds.
        public var segments: UInt64 = 0
        /// Of them those that came by a second name.
        public var linked: UInt64 = 0
        /// Of them those that were copied.
        public var copied: UInt64 = 0
        /// Of them those that the spool has no more.
        public var kept: UInt64 = 0
        /// Files of the backup before that were removed.
        public var removed: UInt64 = 0
        /// Bytes written: the hot tier and what was copied.
        public var bytes: UInt64 = 0
        /// Segments that hot.db lists and that could not be read.
        public var missing: [String] = []

        init() {}
    }

    let spool: String
    let folder: String
    private let mirrors: Bool
    private let hook: (BackupStep) -> Void
    private let source: SegmentFolder
    private let target: SegmentFolder

    /// A backup of `spool` in `folder`.
    ///
    /// - Parameter mirrors: true to remove segments that the spool has removed; else they stay, and
    ///   stay listed.
    public init(spool: String, folder: String, mirrors: Bool = false) {
        self.init(spool: spool, folder: folder, mirrors: mirrors, hook: { _ in })
    }

    /// - Parameter hook: called at each moment of a backup.
    init(spool: String, folder: String, mirrors: Bool, hook: @escaping (BackupStep) -> Void) {
        self.spool = spool
        self.folder = folder
        self.mirrors = mirrors
        self.hook = hook
        source = SegmentFolder(spool: spool)
        target = SegmentFolder(spool: folder)
    }

    private var part: String { Schema.database(folder) + ".part" }
    private var mark: String { folder + "/backup" }

    /// Makes the backup, or brings it up to date.
    ///
    /// - Throws: where the folder is something else, or the spool cannot be copied whole; the
    ///   backup before is then as it was.
    public func run() throws(SpoolError) -> Made {
        do {
            let reader = try SpoolReader(directory: spool)
            try prepareFolder()
            let lock = try takeLock()
            try clean()
            let before = try Before(folder, reader.database)
            var made = try copy(reader)
            try merge(before, &made)
            try Files.sync(target.path)
            try Files.sync(part)
            hook(.synced)
            try Files.rename(part, to: Schema.database(folder))
            hook(.renamed)
            try Files.sync(folder)
            hook(.folderSynced)
            try tidy(&made)
            hook(.done)
            _ = consume lock
            return made
        } catch {
            throw SpoolError("back up spool", spool, error)
        }
    }

    private func refusal(_ cause: String, _ hint: String) -> SpoolError {
        SpoolError(operation: "back up spool", subject: spool, cause: cause, hint: hint)
    }

    /// Makes the folder, or makes sure that it is a backup.
    private func prepareFolder() throws {
        let own = FileIdentity(spool)
        var above = folder
        while true {
            if let own, FileIdentity(above) == own {
                throw refusal("'\(folder)' is in the spool itself", "choose another folder")
            }
            let parent = Files.parent(of: above)
            if parent == above || above == "." { break }
            above = parent
        }
        try Files.makeFolder(folder, mode: 0o750)
        hook(.folderMade)
        if Files.exists(mark) { return }
        guard Files.names(in: folder).isEmpty else {
            throw refusal(
                "'\(folder)' is not empty and no backup",
                "choose an empty folder, or the one of an earlier backup"
            )
        }
        try Files.write("a backup of a spool of intel: see intel-spool(1)\n", to: mark, mode: 0o640)
        // Before anything else is in it: what is not empty and has no mark would be refused.
        try Files.sync(folder)
        try Files.syncFolders(above: folder)
        hook(.marked)
    }

    /// The lock of the folder as a spool: no agent, and no other backup.
    private func takeLock() throws -> FileDescriptor {
        do throws(SystemError) {
            let lock = try Files.lock(Schema.lock(folder))
            guard Files.size(Schema.log(folder)) == 0 else {
                throw SystemError("lock", folder, code: 16)
            }
            return lock
        } catch {
            guard error.wouldBlock || error.code == 16 else { throw error }
            throw refusal(
                "'\(folder)' is in use as a spool, or by another backup",
                "wait for it, or choose another folder"
            )
        }
    }

    /// Removes what an interrupted backup has left.
    private func clean() throws {
        for name in Files.names(in: folder) where name.hasPrefix("hot.db.part") {
            try Files.remove(folder + "/" + name)
        }
        try target.make()
        try target.removeUnfinished()
        hook(.cleaned)
    }

    // MARK: Copying

    /// Copies the hot tier, and then the segments that the copy lists; anew where one of those has
    /// become part of another meanwhile.
    private func copy(_ reader: borrowing SpoolReader) throws -> Made {
        var made = Made()
        while true {
            try Files.remove(part)
            let quoted = part.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "''")
            try reader.database.execute("VACUUM INTO '\(quoted)'")
            hook(.hotCopied)
            let copy = try Database(path: part, mode: .read)
            guard try Schema.hasSegments(copy) else { break }
            let listed = try SegmentRow.all(copy)
            do {
                made.missing = []
                for segment in listed { try add(segment, reader, &made) }
                made.segments = UInt64(listed.count - made.missing.count)
                break
            } catch is Vanished {
                continue
            }
        }
        made.bytes += UInt64(clamping: Files.size(part))
        return made
    }

    private func add(
        _ segment: SegmentRow,
        _ reader: borrowing SpoolReader,
        _ made: inout Made
    ) throws {
        let (from, to) = (source.file(segment.name), target.file(segment.name))
        if try isThere(segment, from, to) { return }
        do throws(SystemError) {
            try bring(segment, from, to, &made)
        } catch {
            guard error.isNotFound, !Files.exists(from) else { throw error }
            let find = try reader.database.prepare("SELECT 1 FROM segment WHERE name = ?")
            try find.bind(1, segment.name)
            guard try find.step() else { throw Vanished() }
            made.missing.append(segment.name)
        }
        hook(.segmentAdded)
    }

    /// True if the backup has the segment; one that is another, or not whole, is none.
    private func isThere(_ segment: SegmentRow, _ from: String, _ to: String) throws -> Bool {
        guard Files.size(to) == segment.bytes else { return false }
        if let one = FileIdentity(from), FileIdentity(to) == one { return true }
        guard let kept = try? SegmentFile(to).meta() else { return false }
        guard let meta = try? SegmentFile(from).meta() else { return true }
        return kept == meta
    }

    private func bring(
        _ segment: SegmentRow,
        _ from: String,
        _ to: String,
        _ made: inout Made
    ) throws(SystemError) {
        let aside = to + ".part"
        do throws(SystemError) {
            try Files.link(from, to: aside)
            made.linked += 1
        } catch {
            guard error.cannotLink else { throw error }
            try Files.copy(from, to: aside)
            made.copied += 1
            made.bytes += UInt64(clamping: segment.bytes)
        }
        hook(.segmentBrought)
        try Files.rename(aside, to: to)
    }

    // MARK: What was there before

    /// The backup that this one takes the place of.
    private struct Before {
        /// Segments that it lists, with their groups.
        var segments: [(row: SegmentRow, streams: [UInt8])] = []
        /// Files that it was about to remove.
        var leaving: [String] = []

        /// - Throws: if it is of another spool.
        init(_ folder: String, _ spool: borrowing Database) throws {
            let path = Schema.database(folder)
            guard Files.exists(path), let old = try? Database(path: path, mode: .read),
                (try? Schema.hasSegments(old)) == true
            else { return }
            for (table, columns) in [("stream", "peer, kind"), ("peer_state", "peer, epoch")] {
                let here = try old.prepare("SELECT id, \(columns) FROM \(table)")
                let there = try spool.prepare("SELECT \(columns) FROM \(table) WHERE id = ?")
                while try here.step() {
                    defer { there.reset() }
                    try there.bind(1, here.integer(0))
                    guard try there.step() else { continue }
                    if here.text(1) == there.text(0), here.text(2) == there.text(1) { continue }
                    throw SpoolError(
                        operation: "back up spool",
                        subject: folder,
                        cause: "it holds the backup of another spool",
                        hint: "choose another folder; nothing was changed"
                    )
                }
            }
            let list = try old.prepare("SELECT \(SegmentRow.columns) FROM segment ORDER BY lo")
            while try list.step() { segments.append((SegmentRow(list), list.blob(8))) }
            let noted = try old.prepare("SELECT name FROM removal")
            while try noted.step() { leaving.append(noted.text(0)) }
        }
    }

    /// Lists what the spool has removed since, so that it stays a part of the backup, and notes
    /// which files are to go.
    private func merge(_ before: Before, _ made: inout Made) throws {
        let copy = try Database(path: part, mode: .write)
        defer { hook(.merged) }
        made.records = try Self.records("batch", copy)
        guard try Schema.hasSegments(copy) else { return }
        let listed = try SegmentRow.all(copy)
        var names = Set(listed.map(\.name))
        for (row, streams) in before.segments where !names.contains(row.name) {
            let isApart = listed.allSatisfy { $0.hi < row.lo || row.hi < $0.lo }
            guard isApart, !mirrors, Files.exists(target.file(row.name)) else { continue }
            try row.insert(streams: streams, copy)
            names.insert(row.name)
            made.kept += 1
            made.segments += 1
        }
        let note = try copy.prepare("INSERT OR IGNORE INTO removal(name) VALUES(?)")
        for name in before.segments.map(\.row.name) + before.leaving
        where Files.exists(target.file(name)) {
            try note.bind(1, name)
            try note.run()
        }
        // The spool may be about to remove what stays here.
        try copy.execute("DELETE FROM removal WHERE name IN (SELECT name FROM segment)")
        made.records += try Self.records("segment", copy)
    }

    private static func records(_ table: String, _ copy: borrowing Database) throws -> UInt64 {
        UInt64(clamping: try copy.integer("SELECT coalesce(sum(n), 0) FROM \(table)") ?? 0)
    }

    /// Removes the files that are noted.
    ///
    /// The notes stay: a change of hot.db would have a journal, and one that a crash leaves would
    /// be taken for that of the next backup's hot.db.
    private func tidy(_ made: inout Made) throws {
        let now = try Database(path: Schema.database(folder), mode: .read)
        guard try Schema.hasSegments(now) else { return }
        let noted = try now.prepare("SELECT name FROM removal")
        var leaving: [String] = []
        while try noted.step() { leaving.append(noted.text(0)) }
        for name in leaving where Files.exists(target.file(name)) {
            try Files.remove(target.file(name))
            made.removed += 1
            hook(.segmentRemoved)
        }
    }
}

/// The moments of a backup, in their order: between two of them at most one thing changes on the
/// disk.
///
/// Tests end the process at each of them.
enum BackupStep: String, CaseIterable, Sendable, Codable {
    /// The folder is there.
    case folderMade
    /// It is known as a backup.
    case marked
    /// Leftovers are gone.
    case cleaned
    /// The hot tier was copied under a temporary name.
    case hotCopied
    /// A segment is there under a temporary name.
    case segmentBrought
    /// It has its own.
    case segmentAdded
    /// The copy lists all that the backup is to hold.
    case merged
    /// All of it is on the disk.
    case synced
    /// The copy of the hot tier has its own name.
    case renamed
    /// The name is on the disk.
    case folderSynced
    /// A segment that is part of another is gone.
    case segmentRemoved
    /// Nothing is left to do.
    case done
}
