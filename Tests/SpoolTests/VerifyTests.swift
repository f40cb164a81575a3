import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// A verification names what is damaged, how much is in it, and nothing else.
@Suite struct VerifyTests {
    /// Some segments and a hot rest.
    static func filled(seed: UInt64 = 41) throws -> (Fixture, [Record]) {
        let (fixture, _) = try Fixture.mixed(900, size: 30, seed: seed)
        let records = try fixture.records()
        try fixture.compact(
            CompactionLimits(
                hotBytes: 60_000,
                keptBytes: 20_000,
                segmentBytes: 40_000,
                smallBytes: 0
            )
        )
        #expect(fixture.segmentNames.count > 1)
        #expect(try fixture.hotBatches() > 1)
        return (fixture, records)
    }

    @Test("a sound spool is sound, hot and cold, and every record is counted once")
    func sound() throws {
        let (fixture, records) = try Self.filled()
        for threads in [1, 2, 5] {
            let verifier = Verifier(
                directory: fixture.directory,
                threads: threads,
                isDeep: threads == 2
            )
            let found = try verifier.run()
            #expect(found.damages == [])
            #expect(found.records == UInt64(records.count))
            #expect(found.rawBytes == records.reduce(0) { $0 + UInt64($1.payload.count) })
            #expect(found.segments == UInt64(fixture.segmentNames.count))
            #expect(try found.hotBatches == UInt64(fixture.hotBatches()))
            #expect(found.moved == 0)
        }
        try fixture.compact()
        let found = try Verifier(directory: fixture.directory).run()
        #expect(found.isSound && found.records == UInt64(records.count) && found.hotBatches == 0)
    }

    @Test("an empty spool is sound, and none at all is an error")
    func empty() throws {
        let fixture = try Fixture()
        #expect(throws: SpoolError.self) { try Verifier(directory: fixture.directory).run() }
        _ = try fixture.writer()
        #expect(try Verifier(directory: fixture.directory).run() == Verification())
    }

    @Test("trap 8: every flipped byte of a hot blob is found, and costs that batch")
    func hotByte() throws {
        let (fixture, records) = try Self.filled()
        let id = try #require(try fixture.sql("SELECT max(id) FROM batches")[0][0].integer)
        for offset in 0..<40 {
            let place = offset * 997
            try fixture.flip(batch: id, at: place)
            let found = try Verifier(directory: fixture.directory).run()
            #expect(found.damages.map(\.subject) == ["batch \(id)"], "byte \(place)")
            #expect(found.damages.first?.records == 30)
            #expect(found.records == UInt64(records.count - 30))
            try fixture.flip(batch: id, at: place)
        }
        #expect(try Verifier(directory: fixture.directory).run().isSound)
    }

    @Test(
        "what a row says is compared with what is in its batch",
        arguments: [
            "t0 = t0 + 1", "time1 = 1 << 60", "n = n - 1", "raw = raw + 1", "first_store = 7",
            "last_store = last_store + 1", "crc = crc + 1", "streams = zeroblob(30)",
            "data = ''", "n = 1 << 40", "data = zeroblob(10)",
        ]
    )
    func coldRow(change: String) throws {
        let (fixture, records) = try Self.filled()
        let name = try #require(fixture.segmentNames.first)
        try alter(fixture, name, "UPDATE batch SET \(change) WHERE id = 1")
        let found = try Verifier(directory: fixture.directory).run()
        #expect(!found.damages.isEmpty)
        let subjects = found.damages.map(\.subject)
        #expect(subjects.contains("segment \(name), batch 1"))
        #expect(subjects.allSatisfy { $0.hasPrefix("segment \(name)") })
        #expect(found.records < UInt64(records.count))
        #expect(found.records + found.damagedRecords >= UInt64(records.count) - 1)
    }

    @Test("a filter, a batch, a name or a list row that is missing is named")
    func missing() throws {
        let changes: [(String, Bool, String)] = [
            ("DELETE FROM words WHERE batch = 1", true, "it has no word filter"),
            ("DELETE FROM batch WHERE id = 1", true, "its row is gone"),
            ("DELETE FROM stream", true, "its names are not those of hot.db"),
            ("UPDATE meta SET v = v + 1 WHERE k = 'hi'", true, "it stands for other batches"),
            ("UPDATE segment SET n = n + 1", false, "its row is damaged"),
            ("UPDATE segment SET bytes = bytes + 1", false, "another size"),
            ("UPDATE segment SET batches = batches - 1", false, ""),
            ("DELETE FROM stream WHERE id = 1", false, "its names are not known"),
            ("UPDATE peer_state SET accounted = x'ff'", false, "they make no sense"),
        ]
        for (sql, isFile, cause) in changes {
            let (fixture, _) = try Self.filled()
            let name = try #require(fixture.segmentNames.first)
            if isFile { try alter(fixture, name, sql) } else { try fixture.alter(sql) }
            let found = try Verifier(directory: fixture.directory).run()
            #expect(found.damages.contains { $0.cause.contains(cause) }, "\(sql): \(found.damages)")
        }
    }

    @Test("a file that is gone, cut off or no segment is named with its records")
    func file() throws {
        for damage in 0..<3 {
            let (fixture, records) = try Self.filled()
            let name = try #require(fixture.segmentNames.first)
            let inside = try fixture.sql("SELECT records FROM segments WHERE name = '\(name)'")
            let count = UInt64(inside.first?.first?.integer ?? 0)
            let path = fixture.directory + "/seg/" + name
            switch damage {
            case 0: try Files.remove(path)
            case 1:
                let bytes = try Files.contents(path)
                let file = try Files.create(path)
                try Descriptor.write(file.raw, Array(bytes.prefix(700)))
            default: try Files.write(String(repeating: "no database ", count: 100), to: path)
            }
            let found = try Verifier(directory: fixture.directory).run()
            #expect(found.damages.map(\.subject) == ["segment \(name)"])
            #expect(found.damagedRecords == count)
            #expect(found.records == UInt64(records.count) - count)
        }
    }

    @Test("any byte of a segment's batches that is changed is found", arguments: 1...12)
    func coldByte(seed: UInt64) throws {
        let (fixture, _) = try Self.filled()
        var dice = Dice(state: seed &* 31)
        let name = try #require(fixture.segmentNames.randomElement(using: &dice))
        let path = fixture.directory + "/seg/" + name
        let place = try Self.blobPlace(path, &dice)
        var bytes = try Files.contents(path)
        bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &dice)
        do {
            let file = try Files.create(path)
            try Descriptor.write(file.raw, bytes)
        }
        let found = try Verifier(directory: fixture.directory).run()
        #expect(!found.isSound)
        #expect(found.damages.allSatisfy { $0.subject.hasPrefix("segment \(name)") })
    }

    /// Where some byte of some blob lies in the file.
    private static func blobPlace(_ path: String, _ dice: inout Dice) throws -> Int {
        let database = try Database(path: path, mode: .read)
        let count = try database.integer("SELECT count(*) FROM batch") ?? 1
        let id = Int64.random(in: 1...count, using: &dice)
        let find = try database.prepare("SELECT data FROM batch WHERE id = \(id)")
        #expect(try find.step())
        let blob = find.blob(0)
        // The head lies in one piece in the leaf.
        let needle = Array(blob.prefix(24))
        let bytes = try Files.contents(path)
        for start in 0..<bytes.count - 24 where bytes[start] == needle[0] {
            if bytes[start..<start + 24].elementsEqual(needle) {
                return start + Int.random(in: 0..<24, using: &dice)
            }
        }
        Issue.record("the blob is not in the file")
        return 0
    }

    @Test("case 7: beside a writer that compacts all the time nothing is ever damage")
    func besideCompaction() throws {
        let (fixture, records) = try Fixture.mixed(600, size: 10, seed: 77)
        let directory = fixture.directory
        let thread = try OwnedThread("compacts") {
            do {
                var limits = CompactionLimits.all
                limits.segmentBytes = 4_000
                limits.smallBytes = 30_000
                var compaction = try Compaction(directory: directory, limits: limits)
                while try compaction.step() != nil {}
            } catch {
                Issue.record("\(error)")
            }
        }
        for _ in 0..<40 {
            let found = try Verifier(directory: directory).run()
            #expect(found.damages == [])
            #expect(found.records >= UInt64(records.count))
        }
        thread.join()
        #expect(try fixture.hotBatches() == 0)
        #expect(try Verifier(directory: directory).run().records == UInt64(records.count))
    }

    private func alter(_ fixture: Fixture, _ name: String, _ sql: String) throws {
        let path = fixture.directory + "/seg/" + name
        try Database(path: path, mode: .write).execute(sql)
    }
}
