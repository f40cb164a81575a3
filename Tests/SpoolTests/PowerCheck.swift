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
        if promise.least(durability) > 0 { try checkRecords("before", upTo: nil) }
        if promise.backed != nil || Files.exists(backup + "/hot.db") { try checkBackup() }
        var writer = try SpoolWriter(directory: spool, durability: .normal)
        let last = writer.nextStore - 1
        let strays = try Compaction(directory: spool, limits: .all).strays
        try require(strays.isEmpty, "nobody's files: \(strays)")
        try checkRecords("put right", upTo: last)
        try checkFiles(spool)
        let more = last + 1...last + Self.batch
        let given = try writer.commit(NumberedRecords.commit(more))
        try require(given == more, "the next commit got the numbers \(String(describing: given))")
        try checkRecords("gone on", upTo: more.upperBound)
        if promise.backing != nil || promise.backed != nil { try backUp(to: more.upperBound) }
        _ = consume writer
    }

    /// Records and books of the spool.
    ///
    /// - Parameter last: the last record; nil for one that the promise allows.
    private func checkRecords(_ when: String, upTo last: UInt64?) throws {
        let range = try stores(of: spool, when)
        let found = range?.upperBound ?? 0
        if let last {
            try require(found == last, "\(when): records to \(found), numbers to \(last)")
        }
        if last ?? 0 <= promise.begun {
            let least = promise.least(durability)
            try require(
                found >= least && found <= promise.begun && found % Self.batch == 0,
                "\(when): records to \(found) of \(least) to \(promise.begun)"
            )
        }
        let reader = try SpoolReader(directory: spool)
        let removed = (range?.lowerBound ?? 1) - 1
        try require(removed <= promise.removable, "\(when): \(removed) records are gone")
        let books = try reader.peers().map(Books.init)
        let expected = NumberedRecords.books(after: found).map(Books.init)
        try require(found == 0 || books == expected, "\(when): the books are not those of \(found)")
        let book = try Database(path: spool + "/hot.db", mode: .read)
        if try Schema.hasSegments(book) {
            let booked = try RemovalBook.all(book).reduce(0) { $0 + $1.records }
            try require(booked == removed, "\(when): \(removed) are gone, the book has \(booked)")
        }
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

    /// Store numbers of a sound spool's records, each of which is what was written.
    private func stores(of folder: String, _ when: String) throws -> ClosedRange<UInt64>? {
        let verified = try Verifier(directory: folder, threads: 1).run()
        try require(verified.isSound, "\(when): \(verified.damages)")
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
        let found = try stores(of: backup, "backup")
        let allowed = [promise.backed, promise.backing].compactMap { $0 }
        try require(
            found.map(allowed.contains) ?? allowed.isEmpty,
            "the backup has \(String(describing: found)) of \(allowed)"
        )
    }

    /// The next backup is whole, and leaves nothing behind.
    private func backUp(to last: UInt64) throws {
        _ = try SpoolBackup(spool: spool, folder: backup).run()
        let found = try stores(of: backup, "next backup")
        try require(found?.upperBound == last, "the next backup has \(String(describing: found))")
        try checkFiles(backup)
        let names = Files.names(in: backup)
        let own: Set<String> = ["backup", "hot.db", "lock", "seg"]
        try require(own.isSuperset(of: names), "in the next backup: \(names)")
    }
}
