import Basics
import LinuxIO
import SQLite
import Telemetry
import TestKit

@testable import Spool

/// Looks at what a crash or a power cut has left of a spool, and goes on with it as the agent does.
struct PowerCheck {
    let root: String
    let promise: PowerPromise
    let durability: Durability
    let known: PowerFindings

    private var spool: String { root + "/spool" }
    private var backup: String { root + "/backup" }

    /// What is broken; nil if nothing is.
    func run() -> String? {
        do {
            try look()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func look() throws {
        let least = promise.least(durability)
        // Before anything is put right. Who only reads cannot take back that hot.db is being made a
        // file with a log.
        if least > 0, !Files.exists(spool + "/hot.db-journal") {
            let last = try SpoolReader(directory: spool).summary().lastStore
            try PowerFindings.require(last >= least, "before: records to \(last) of \(least)")
        }
        if promise.backed != nil || Files.exists(backup + "/hot.db") { try checkBackup() }
        let next = try putRight()
        let found = try known.spool(spool)
        let last = found.range?.upperBound ?? 0
        try PowerFindings.require(last + 1 == next, "records to \(last), the next is \(next)")
        try PowerFindings.require(
            last >= least && last <= promise.begun && last % PowerFindings.batch == 0,
            "records to \(last), of \(least) to \(promise.begun)"
        )
        try PowerFindings.require(found.removed <= promise.removable, "\(found.removed) are gone")
        if promise.backing != nil || promise.backed != nil { try backUp(to: last) }
    }

    /// Opens and closes the spool as the agent does.
    ///
    /// - Returns: the number that the next record would get.
    private func putRight() throws -> UInt64 {
        let writer = try SpoolWriter(directory: spool, durability: .normal)
        let strays = try Compaction(directory: spool, limits: .all).strays
        try PowerFindings.require(strays.isEmpty, "nobody's files: \(strays)")
        return writer.nextStore
    }

    /// The backup as it was found: the last one that was made, or the one that was in the making.
    private func checkBackup() throws {
        let found = try known.backup(backup)
        let allowed = [promise.backed, promise.backing].compactMap { $0 }
        try PowerFindings.require(
            found.map(allowed.contains) ?? false,
            "the backup has \(String(describing: found)) of \(allowed)"
        )
    }

    /// The next backup is whole, and leaves nothing behind.
    private func backUp(to last: UInt64) throws {
        _ = try SpoolBackup(spool: spool, folder: backup).run()
        let found = try known.backup(backup)
        let text = "the next backup has \(String(describing: found)) of records to \(last)"
        try PowerFindings.require(found?.upperBound == last, text)
        try PowerFindings.checkFiles(backup)
        let names = Files.names(in: backup)
        let own: Set<String> = ["backup", "hot.db", "lock", "seg"]
        try PowerFindings.require(own.isSuperset(of: names), "in the next backup: \(names)")
    }
}

/// What was found in spools, so that one that has the same bytes is looked at once.
final class PowerFindings {
    /// Records in a commit of the scenarios.
    static let batch: UInt64 = 6

    struct Spool {
        var range: ClosedRange<UInt64>?
        /// Records before those.
        var removed: UInt64 = 0
    }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private var spools: [Int: Spool] = [:]
    private var backups: [Int: ClosedRange<UInt64>?] = [:]

    static func require(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: what()) }
    }

    /// A spool that is closed: sound, with the books of its records, and it goes on.
    func spool(_ folder: String) throws -> Spool {
        let mark = try Self.fingerprint(folder)
        if let found = spools[mark] { return found }
        var found = Spool()
        found.range = try Self.sound(folder)
        found.removed = (found.range?.lowerBound ?? 1) - 1
        let last = found.range?.upperBound ?? 0
        let books = try SpoolReader(directory: folder).peers().map(Books.init)
        let expected = NumberedRecords.books(after: last).map(Books.init)
        try Self.require(last == 0 || books == expected, "the books are not those of \(last)")
        let database = try Database(path: folder + "/hot.db", mode: .read)
        let booked = try RemovalBook.all(database).reduce(0) { $0 + $1.records }
        try Self.require(booked == found.removed, "\(found.removed) are gone, \(booked) booked")
        try Self.checkFiles(folder)
        try Self.goOn(folder, last)
        spools[mark] = found
        return found
    }

    /// The records of a backup, which is sound.
    func backup(_ folder: String) throws -> ClosedRange<UInt64>? {
        let mark = try Self.fingerprint(folder)
        if let found = backups[mark] { return found }
        let found = try Self.sound(folder)
        backups[mark] = found
        return found
    }

    /// Segments are those that are listed, none of their records are hot too, and nothing is half
    /// done.
    static func checkFiles(_ folder: String) throws {
        let database = try Database(path: folder + "/hot.db", mode: .read)
        let listed = try SegmentRow.all(database).map(\.name).sorted()
        let names = Files.names(in: folder + "/seg")
        try require(names == listed, "files \(names), listed \(listed)")
        let twice = try database.integer(
            "SELECT count(*) FROM batch JOIN segment ON batch.id BETWEEN segment.lo AND segment.hi"
        )
        try require(twice == 0, "\(twice ?? 0) batches are in segments and hot")
    }

    /// A copy of the spool takes the next commit.
    private static func goOn(_ folder: String, _ last: UInt64) throws {
        let copy = try TemporaryFolder(inMemory: true)
        try PowerRemains(PowerDisk(folder), .killed, number: 0).write(to: copy.path)
        do {
            var writer = try SpoolWriter(directory: copy.path, durability: .normal)
            let more = last + 1...last + batch
            let given = try writer.commit(NumberedRecords.commit(more))
            try require(given == more, "the next commit has \(String(describing: given))")
        }
        _ = try sound(copy.path)
    }

    /// Tells spools apart by all bytes that a reader looks at.
    private static func fingerprint(_ folder: String) throws -> Int {
        var hasher = Hasher()
        let segments = Files.names(in: folder + "/seg").filter { $0.hasSuffix(".db") }
        for name in ["hot.db", "hot.db-wal", "hot.db-journal"] + segments.map({ "seg/" + $0 }) {
            guard Files.exists(folder + "/" + name) else { continue }
            hasher.combine(name)
            let bytes = try Files.contents(folder + "/" + name)
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }

    /// Store numbers of the records of a spool that is sound to the last byte; each is what was
    /// written.
    private static func sound(_ folder: String) throws -> ClosedRange<UInt64>? {
        let verified = try Verifier(directory: folder, threads: 1).run()
        try require(verified.isSound, "\(verified.damages)")
        var reader = try SpoolReader(directory: folder)
        var found: [UInt64] = []
        var altered: [UInt64] = []
        let report = try reader.forEach(Query()) { view in
            let record = view.copy()
            let number = record.store
            found.append(number)
            let isSame =
                record.instance == NumberedRecords.instance(number)
                && record.kind == NumberedRecords.kind(number)
                && record.envelope == NumberedRecords.envelope(number)
                && record.payload == NumberedRecords.payload(number)
            if !isSame { altered.append(number) }
            return true
        }
        try require(report.isWhole && altered.isEmpty, "damaged, or altered: \(altered)")
        found.sort()
        guard let first = found.first, let last = found.last else { return nil }
        try require(found == Array(first...last), "\(found.count) records, \(first) to \(last)")
        return first...last
    }

    private struct Books: Equatable {
        let instance: PeerInstance
        let numbers: [UInt64]
        let holes: [ClosedRange<UInt64>]

        init(_ state: PeerState) {
            instance = state.instance
            numbers = [state.sent, state.stored, state.missing]
            holes = state.accounted.holes(upTo: state.sent)
        }
    }
}
