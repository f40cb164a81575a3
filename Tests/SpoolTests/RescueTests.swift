import Basics
import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// What an agent does with the spool that a crash, a bad disk or somebody's hand has left.
@Suite struct RescueTests {
    /// Opens the spool as an agent does, stores one record, and tells what was found.
    private func start(_ fixture: Fixture, sequence: UInt64 = 1) throws -> [SpoolFinding] {
        var writer = try SpoolWriter(
            directory: fixture.directory,
            durability: .normal,
            mending: true
        )
        let next = writer.nextStore
        let one = record(sequence, at: 7, peer: "after", kind: "after")
        #expect(try writer.commit(SpoolCommit(records: .init([one]))) == next...next)
        return writer.findings
    }

    /// What can be read of the records of before; each as it was.
    private func seen(_ fixture: Fixture, of records: [Record]) throws -> Set<UInt64> {
        let before = Dictionary(uniqueKeysWithValues: records.map { ($0.store, $0) })
        var found: Set<UInt64> = []
        var reader = try SpoolReader(directory: fixture.directory)
        _ = try reader.forEach(Query()) { view in
            let copy = view.copy()
            if copy.kind == "after" { return true }
            let isNamed = !copy.instance.identifier.hasPrefix("lost.") && copy.kind != "lost"
            if isNamed { #expect(before[copy.store] == copy) }
            #expect(before[copy.store]?.payload == copy.payload)
            #expect(found.insert(copy.store).inserted)
            return true
        }
        return found
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try Files.create(path)
        try Descriptor.write(file.raw, bytes)
    }

    /// What is there besides a sound spool.
    private func extras(_ fixture: Fixture) -> [String] {
        Files.names(in: fixture.directory).filter {
            !["hot.db", "lock", "seg", "hot.db-wal", "hot.db-shm"].contains($0)
        }
    }

    @Test(
        "case 1: any page of hot.db overwritten: the writer starts, keeps what can be read, tells",
        arguments: 0..<24
    )
    func page(number: Int) throws {
        let (fixture, records) = try VerifyTests.filled(seed: 5)
        let path = fixture.directory + "/hot.db"
        var bytes = try Files.contents(path)
        // Half a page, the first and the second halves in turn, all over the file.
        let place = min(number * (bytes.count / 4096) / 24, bytes.count / 4096 - 1) * 4096
        var dice = Dice(state: UInt64(number) + 1)
        for index in place..<place + 4096 { bytes[index] = UInt8.random(in: 0...255, using: &dice) }
        try write(bytes, to: path)
        let readable = (try? seen(fixture, of: records)) ?? []
        let found = try start(fixture)
        let left = try seen(fixture, of: records)
        #expect(left.isSuperset(of: readable), "page at \(place): \(found)")
        let lost = records.count - left.count
        if lost > 0 {
            #expect(!found.isEmpty)
            let told = found.reduce(0) { $0 + ($1.records ?? UInt64(records.count)) }
            #expect(told >= UInt64(lost), "\(lost) lost: \(found)")
        }
        for finding in found {
            guard let aside = finding.aside else { continue }
            #expect(try Files.contents(fixture.directory + "/\(aside)/hot.db") == bytes)
            #expect(extras(fixture) == [aside])
        }
        // The next start has nothing to do but for batches that stay where they are.
        let again = try start(fixture, sequence: 2)
        #expect(again.allSatisfy { $0.aside == nil }, "\(again)")
    }

    @Test("case 2: a batch of random bytes is told with number, span and count; the rest is read")
    func badBatch() throws {
        let fixture = try Fixture()
        for batch in 0..<5 {
            let records: [Record] = (1...20).map { (index: Int) -> Record in
                record(UInt64(batch * 20 + index), at: Int64(batch * 100 + index))
            }
            try fixture.store([records])
        }
        let records = try fixture.records()
        try fixture.alter("UPDATE batch SET data = randomblob(500) WHERE id = 3")
        let found = try start(fixture)
        #expect(found.count == 1 && found.first?.what.hasPrefix("batch 3: ") == true)
        #expect(found.first?.records == 20 && found.first?.times == 201...220)
        #expect(found.first?.aside == nil && extras(fixture) == [])
        #expect(try seen(fixture, of: records) == Set<UInt64>(1...40).union(61...100))
        try fixture.alter("UPDATE batch SET data = randomblob(500)")
        #expect(try start(fixture, sequence: 2).count == 6)
    }

    @Test(
        "case 4, case 5: without hot.db, or with one of no bytes or of NULs, segments are history",
        arguments: ["missing", "empty", "zeros"]
    )
    func noList(damage: String) throws {
        let (fixture, _) = try Fixture.mixed(600, size: 30, seed: 8)
        let records = try fixture.records()
        try fixture.compact()
        let path = fixture.directory + "/hot.db"
        switch damage {
        case "missing": try Files.remove(path)
        case "empty": try write([], to: path)
        default: try write([UInt8](repeating: 0, count: 128), to: path)
        }
        let names = fixture.segmentNames
        let found = try start(fixture)
        #expect(found.count == 1 && found.first?.records == 0, "\(found)")
        #expect(try seen(fixture, of: records).count == 600)
        #expect(fixture.segmentNames == names)
        let reader = try SpoolReader(directory: fixture.directory)
        // Whatever is offered again is known, and new numbers go on.
        for record in records.suffix(20) {
            let books = try #require(try reader.peer(record.instance))
            #expect(books.accounted.contains(record.envelope.sequence))
        }
        #expect(try fixture.sql("SELECT max(store) FROM records") == [[.integer(601)]])
        #expect(try start(fixture, sequence: 2) == [])
    }

    @Test("case 4: rows of names that are gone come back from segments, and are given to nobody")
    func noNames() throws {
        let (fixture, _) = try Fixture.mixed(300, size: 30, seed: 3)
        let records = try fixture.records()
        try fixture.alter("DELETE FROM peer_state WHERE id < 4")
        #expect(try start(fixture).first?.what.contains("names") == true)
        let own = try fixture.records(Query(peers: [Glob("after")]))
        #expect(own.count == 1)
        #expect(try seen(fixture, of: records).count == 300)
        // Whose number they had is not known any more; it is not the new peer's.
        let nameless = try fixture.records().filter {
            $0.instance.identifier.hasPrefix("lost.peer.")
        }
        #expect(!nameless.isEmpty)

        let (cold, _) = try Fixture.mixed(300, size: 30, seed: 3)
        let before = try cold.records()
        try cold.compact()
        try cold.alter("DELETE FROM peer_state; DELETE FROM stream")
        #expect(try start(cold).count == 1)
        #expect(try cold.records().filter { $0.kind != "after" } == before)
    }

    @Test("case 4, case 16: without -shm, or with files of no bytes, it starts")
    func emptyFiles() throws {
        let fixture = try Fixture()
        for name in ["hot.db", "hot.db-wal", "hot.db-shm", "lock"] {
            try write([], to: fixture.directory + "/" + name)
        }
        #expect(try start(fixture) == [])
        #expect(try fixture.records().count == 1)
        let killed = try Self.killed(fixture)
        try Files.remove(killed.directory + "/hot.db-shm")
        #expect(try start(killed, sequence: 2) == [])
        #expect(try killed.records().count == 1 + 200 + 1)
        let cut = try Self.killed(try Fixture())
        try write([], to: cut.directory + "/hot.db-wal")
        #expect(try start(cut, sequence: 2) == [])
        #expect(try cut.records().count == 1)
    }

    @Test("what is no spool is left as it is")
    func foreign() throws {
        let fixture = try Fixture()
        let text = String(repeating: "not a database, but long enough to look at ", count: 500)
        try Files.write(text, to: fixture.directory + "/hot.db")
        let error = #expect(throws: SpoolError.self) { try start(fixture) }
        #expect(error?.kind == .damaged && error?.hint?.contains("intel spool salvage") == true)
        #expect(try Files.contents(fixture.directory + "/hot.db") == Array(text.utf8))
        #expect(extras(fixture) == [])
    }

    @Test("a rescue that was cut short is finished by the next start, or begun anew")
    func cutShort() throws {
        let (fixture, records) = try VerifyTests.filled(seed: 5)
        let made = fixture.directory + "/made"
        _ = try Salvage(spool: fixture.directory, folder: fixture.directory + "-made").run()
        try Files.rename(fixture.directory + "-made", to: made)
        try Files.rename(made, to: fixture.directory + "/rescue-20261130T000000Z")
        try Files.makeFolder(fixture.directory + "/rescue.part/seg")
        try Files.makeFolder(fixture.directory + "/rescue-20261130T000001Z/seg")
        let damaged = [UInt8](repeating: 7, count: 8192)
        try write(damaged, to: fixture.directory + "/hot.db")
        try write(damaged, to: fixture.directory + "/hot.db-wal")
        try write(damaged, to: fixture.directory + "/seg/1-2-3.db")
        let names = fixture.segmentNames.filter { $0 != "1-2-3.db" }
        _ = try start(fixture)
        #expect(try seen(fixture, of: records).count == records.count)
        #expect(extras(fixture) == ["damaged-20261130T000000Z"])
        let aside = fixture.directory + "/damaged-20261130T000000Z"
        #expect(try Files.contents(aside + "/hot.db") == damaged)
        #expect(try Files.contents(aside + "/hot.db-wal") == damaged)
        #expect(Files.names(in: aside + "/seg").contains("1-2-3.db"))
        #expect(fixture.segmentNames == names)
        #expect(try Verifier(directory: fixture.directory).run().isSound)
    }
}

extension RescueTests {
    /// What kill -9 leaves of a writer that has made ten commits of 20 records, none of which was
    /// copied into hot.db.
    private static func killed(_ fixture: Fixture) throws -> Fixture {
        var writer = try fixture.writer()
        var dice = Dice(state: 17)
        for batch in 0..<10 {
            let noise = (0..<900).map { _ in Int.random(in: 0...9_999, using: &dice) }
            let records = (1...20).map { index in
                let number = UInt64(batch * 20 + index)
                return record(number, at: Int64(number), kind: "log", payload: "\(noise)")
            }
            _ = try writer.commit(SpoolCommit(records: .init(records)))
        }
        let copy = try Fixture()
        for name in Files.names(in: fixture.directory) {
            try Files.copy(fixture.directory + "/" + name, to: copy.directory + "/" + name)
        }
        _ = consume writer
        return copy
    }

    private func logged(_ fixture: Fixture) throws -> [UInt64] {
        try fixture.records(Query(kinds: [Glob("log")])).map(\.envelope.sequence)
    }

    @Test(
        "case 1, trap 6: a log that breaks off is told, and what SQLite would overwrite is kept",
        arguments: ["end", "middle", "frame head", "head"]
    )
    func brokenLog(damage: String) throws {
        let killed = try Self.killed(try Fixture())
        let path = killed.directory + "/hot.db-wal"
        var bytes = try Files.contents(path)
        switch damage {
        case "end": bytes.removeLast(4096)
        case "middle": bytes[bytes.count / 2] ^= 1
        case "frame head":
            let frame = 32 + (bytes.count - 32) / 8216 / 2 * 8216
            for index in frame..<frame + 24 { bytes[index] = 0 }
        default: bytes[20] ^= 1
        }
        try write(bytes, to: path)
        let found = try start(killed)
        #expect(found.count == 1 && found.first?.records == nil, "\(found)")
        #expect(found.first?.what.contains("the log of hot.db breaks off") == true)
        let sequences = try logged(killed)
        #expect(sequences == Array(1..<UInt64(sequences.count + 1)))
        #expect(sequences.count % 20 == 0 && sequences.count < 200)
        #expect(damage != "end" || sequences.count == 180)
        let aside = killed.directory + "/" + (found.first?.aside ?? "") + "/hot.db-wal"
        let kept = try Files.contents(aside)
        if damage == "head" {
            #expect(kept == bytes)
        } else {
            #expect(kept.count > 4096 && kept.suffix(4096) == bytes.suffix(4096))
            #expect(kept.prefix(32) == bytes.prefix(32))
        }
        #expect(try start(killed, sequence: 2) == [])
    }

    @Test("a commit that was cut short between two frames is no damage, nor is an older run")
    func unfinishedCommit() throws {
        let whole = try Self.killed(try Fixture())
        #expect(try start(whole) == [])
        #expect(try logged(whole).count == 200)
        let killed = try Self.killed(try Fixture())
        let path = killed.directory + "/hot.db-wal"
        try write(try Files.contents(path).dropLast(8216), to: path)
        #expect(try start(killed) == [])
        #expect(try logged(killed).count == 180)

        // A log that was written from its start again, over the frames of an older run.
        let fixture = try Fixture()
        var writer = try fixture.writer()
        for number in 1...40 as ClosedRange<UInt64> {
            _ = try writer.commit(SpoolCommit(records: .init([record(number, at: 1)])))
        }
        let database = try Database(path: fixture.directory + "/hot.db", mode: .write)
        _ = try database.checkpoint(.passive)
        _ = try writer.commit(SpoolCommit(records: .init([record(41, at: 1)])))
        let log = fixture.directory + "/hot.db-wal"
        #expect(Files.size(log) > 10 * 8216)
        #expect(LogTail.find(log) == nil)
        _ = consume writer
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try write(Array(bytes), to: path)
    }
}
