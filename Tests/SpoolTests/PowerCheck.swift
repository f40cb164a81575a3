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
    private static let batch: UInt64 = 6

    private var spool: String { root + "/spool" }
    private var backup: String { root + "/backup" }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private func require(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: what()) }
    }

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
        // Before anything is put right.
        // What only reads cannot take back that hot.db is being made a file with a log.
        if promise.least(durability) > 0, !Files.exists(spool + "/hot.db-journal") {
            try checkRange(try records(of: spool, "before"), "before")
        }
        if promise.backed != nil || Files.exists(backup + "/hot.db") { try checkBackup() }
        var writer = try SpoolWriter(directory: spool, durability: .normal)
        let last = writer.nextStore - 1
        let strays = try Compaction(directory: spool, limits: .all).strays
        try require(strays.isEmpty, "nobody's files: \(strays)")
        try checkRecords(upTo: last)
        try checkFiles(spool)
        let more = last + 1...last + Self.batch
        let given = try writer.commit(NumberedRecords.commit(more))
        try require(given == more, "the next commit got the numbers \(String(describing: given))")
        let sum = try SpoolReader(directory: spool).summary()
        try require(sum.lastStore == more.upperBound, "gone on to \(sum.lastStore)")
        if promise.backing != nil || promise.backed != nil { try backUp(to: more.upperBound) }
        _ = consume writer
    }

    /// What was promised is there, and no part of a commit.
    private func checkRange(_ range: ClosedRange<UInt64>?, _ when: String) throws {
        let found = range?.upperBound ?? 0
        let least = promise.least(durability)
        try require(
            found >= least && found <= promise.begun && found % Self.batch == 0,
            "\(when): records to \(found) of \(least) to \(promise.begun)"
        )
        let removed = (range?.lowerBound ?? 1) - 1
        try require(removed <= promise.removable, "\(when): \(removed) records are gone")
    }

    /// Records and books of the spool, of which `last` is the last record.
    private func checkRecords(upTo last: UInt64) throws {
        let range = try sound(spool, "put right")
        try checkRange(range, "put right")
        let found = range?.upperBound ?? 0
        try require(found == last, "records to \(found), numbers to \(last)")
        let books = try SpoolReader(directory: spool).peers().map(Books.init)
        let expected = NumberedRecords.books(after: found).map(Books.init)
        try require(found == 0 || books == expected, "the books are not those of \(found)")
        let book = try Database(path: spool + "/hot.db", mode: .read)
        let booked = try RemovalBook.all(book).reduce(0) { $0 + $1.records }
        let removed = (range?.lowerBound ?? 1) - 1
        try require(booked == removed, "\(removed) are gone, the book has \(booked)")
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

    /// Store numbers of the records of a spool that is sound to the last byte.
    private func sound(_ folder: String, _ when: String) throws -> ClosedRange<UInt64>? {
        let verified = try Verifier(directory: folder, threads: 1).run()
        try require(verified.isSound, "\(when): \(verified.damages)")
        return try records(of: folder, when)
    }

    /// Store numbers of a spool's records, each of which is what was written.
    private func records(of folder: String, _ when: String) throws -> ClosedRange<UInt64>? {
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
        try require(report.isWhole && altered.isEmpty, "\(when): damaged, altered \(altered)")
        found.sort()
        guard let first = found.first, let last = found.last else { return nil }
        try require(
            UInt64(found.count) == last - first + 1 && Set(found).count == found.count,
            "\(when): \(found.count) records from \(first) to \(last)"
        )
        return first...last
    }

    /// Segments are those that are listed, and nothing is half done.
    private func checkFiles(_ folder: String) throws {
        let database = try Database(path: folder + "/hot.db", mode: .read)
        let listed = try SegmentRow.all(database).map(\.name).sorted()
        let names = Files.names(in: folder + "/seg")
        try require(names == listed, "files \(names), listed \(listed)")
    }

    /// The backup as it was found: the last one that was made, or the one that was in the making.
    private func checkBackup() throws {
        let found = try sound(backup, "backup")
        let allowed = [promise.backed, promise.backing].compactMap { $0 }
        try require(
            found.map(allowed.contains) ?? allowed.isEmpty,
            "the backup has \(String(describing: found)) of \(allowed)"
        )
    }

    /// The next backup is whole, and leaves nothing behind.
    private func backUp(to last: UInt64) throws {
        _ = try SpoolBackup(spool: spool, folder: backup).run()
        let found = try sound(backup, "next backup")
        try require(found?.upperBound == last, "the next backup has \(String(describing: found))")
        try checkFiles(backup)
        let names = Files.names(in: backup)
        let own: Set<String> = ["backup", "hot.db", "lock", "seg"]
        try require(own.isSuperset(of: names), "in the next backup: \(names)")
    }
}
