internal import LinuxIO
internal import SQLite

/// What an agent does about a damaged spool before it writes into it.
///
/// A hot.db that cannot be written is put aside, and one made of what can be read of it and of the
/// segments takes its place.
///
/// Invariants:
/// 1. The caller holds the spool's lock.
/// 2. Nothing of the old files changes before the new ones are whole and on the disk, under a name
///    that says so (`rescue-…`). From there on every step can be done again, and is, at the next
///    start, if this one is cut short.
/// 3. Nothing is deleted: what is replaced is in the folder that the finding names.
/// 4. What is no spool, or a newer version's, is left alone.
enum Rescue {
    private static let prefix = "rescue-"
    private static let unfinished = "/rescue.part"

    /// Why hot.db has to be made anew.
    private struct Fault {
        var cause: String
        /// True where the file itself says that it is a spool.
        var isOurs: Bool
    }

    /// Mends what has to be mended, and tells of all that is damaged.
    static func run(_ directory: String) throws -> [SpoolFinding] {
        try finish(directory)
        var found: [SpoolFinding] = []
        if let tail = try LogTail.setAside(directory) { found.append(tail) }
        if let fault = try fault(directory) {
            if let made = try remake(directory, fault) { found.append(made) }
        } else if Files.size(Schema.database(directory)) > 0 {
            let check = try OpeningCheck(directory)
            if try check.isOurs() { found += try check.damagedBatches() }
        }
        return found
    }

    private static func fault(_ directory: String) throws -> Fault? {
        let path = Schema.database(directory)
        if Files.size(path) == 0 {
            if SegmentFolder(spool: directory).names.isEmpty { return nil }
            let what = Files.exists(path) ? "empty" : "missing"
            return Fault(cause: "hot.db is \(what), and there are segments", isOurs: true)
        }
        var isOurs = false
        do {
            let check = try OpeningCheck(directory)
            isOurs = try check.isOurs()
            guard isOurs, let cause = try check.fault() else { return nil }
            return Fault(cause: "hot.db: \(cause)", isOurs: true)
        } catch {
            guard let sqlite = error as? SQLiteError, sqlite.isDamaged else { throw error }
            return Fault(cause: "hot.db: \(sqlite.message)", isOurs: isOurs)
        }
    }

    /// Nil where there is nothing in the file that could be a spool's.
    private static func remake(_ directory: String, _ fault: Fault) throws -> SpoolFinding? {
        let part = directory + unfinished
        Files.removeTree(part)
        let outcome = try Salvage(rescuing: directory, into: part).run()
        guard fault.isOurs || outcome.records > 0 || isBlank(Schema.database(directory)) else {
            Files.removeTree(part)
            return nil
        }
        do {
            let made = try Database(path: Schema.database(part), mode: .write)
            try Schema.settle(made)
            // A connection that has read nothing knows of no log, and copies none.
            _ = try made.integer("PRAGMA schema_version")
            let copied = try made.checkpoint(.truncate)
            guard !copied.isBusy, Files.size(Schema.log(part)) == 0 else {
                throw DamagedBatch(reason: "the log of its new hot.db is held")
            }
        }
        try Files.remove(Schema.log(part))
        try Files.remove(Schema.index(part))
        try Files.sync(Schema.database(part))
        try Files.sync(part)
        let stamp = Aside.stamp()
        try Files.rename(part, to: directory + "/" + prefix + stamp)
        try Files.sync(directory)
        let aside = try finish(directory)
        var what = "\(fault.cause); made anew with \(outcome.records) records"
        for loss in outcome.losses.prefix(4) { what += ", \(loss)" }
        if outcome.losses.count > 4 { what += " and \(outcome.losses.count - 4) more" }
        if outcome.lostNames > 0 { what += ", \(outcome.lostNames) names are lost" }
        let records = outcome.lostBatches == 0 ? outcome.lostRecords : nil
        return SpoolFinding(what: what, records: records, aside: aside)
    }

    /// True for a file that a power cut left without a byte of its own.
    private static func isBlank(_ path: String) -> Bool {
        let bytes = (try? Files.contents(path, limit: 1 << 20)) ?? [1]
        return bytes.allSatisfy { $0 == 0 }
    }

    /// Puts what a rescue has made into its place.
    ///
    /// - Returns: the name of the folder where the old files are.
    @discardableResult
    private static func finish(_ directory: String) throws -> String? {
        var aside: String?
        Files.removeTree(directory + unfinished)
        for name in Files.names(in: directory) where name.hasPrefix(prefix) {
            let made = directory + "/" + name
            if Files.exists(Schema.database(made)) {
                aside = try install(made, String(name.dropFirst(prefix.count)), in: directory)
            }
            Files.removeTree(made)
        }
        return aside
    }

    private static func install(
        _ made: String,
        _ stamp: String,
        in directory: String
    ) throws -> String {
        let aside = try Aside(spool: directory, stamp: stamp)
        let (old, new) = (SegmentFolder(spool: directory), SegmentFolder(spool: made))
        let hot = Schema.database(directory)
        // A log that stayed would be taken for the new file's.
        if Files.exists(Schema.log(directory)) { try aside.take(Schema.log(directory)) }
        try Files.remove(Schema.index(directory))
        try old.make()
        let kept = Set(new.names)
        for name in old.names {
            // One that was mended may have the name of what it was made of.
            let isKept = FileIdentity(new.file(name)) == FileIdentity(old.file(name))
            if !isKept { try aside.take(old.file(name), into: "/seg") }
        }
        for name in kept where !Files.exists(old.file(name)) {
            try Files.linkOrCopy(new.file(name), to: old.file(name))
        }
        if Files.exists(hot), !Files.exists(aside.file("hot.db")) {
            try Files.linkOrCopy(hot, to: aside.file("hot.db"))
        }
        try Files.sync(old.path)
        try aside.sync()
        try Files.rename(Schema.database(made), to: hot)
        try Files.sync(directory)
        return aside.name
    }
}
