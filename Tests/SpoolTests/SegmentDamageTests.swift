import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// Whatever becomes of a segment file, the rest is read, and what is not is named and counted.
@Suite struct SegmentDamageTests {
    /// Some segments and a hot rest; the records in order.
    private func filled() throws -> (Fixture, [Record]) { try VerifyTests.filled() }

    private func scan(_ fixture: Fixture, _ query: Query = Query()) throws -> (Int, ScanReport) {
        var reader = try SpoolReader(directory: fixture.directory)
        var seen = 0
        let report = try reader.forEach(query) { _ in
            seen += 1
            return true
        }
        return (seen, report)
    }

    private func alter(_ fixture: Fixture, _ name: String, _ sql: String) throws {
        let path = fixture.directory + "/seg/" + name
        try Database(path: path, mode: .write).execute(sql)
    }

    @Test(
        "a changed row or blob costs that batch",
        arguments: [
            "t0 = t0 + 1", "time1 = 1 << 60", "n = n - 1", "raw = raw + 1", "first_store = 7",
            "last_store = last_store + 1", "crc = crc + 1", "streams = zeroblob(30)",
            "streams = ''", "data = ''", "n = -1", "n = 1 << 40", "last_store = -1",
            "data = zeroblob(10)",
        ]
    )
    func row(change: String) throws {
        let (fixture, records) = try filled()
        let name = try #require(fixture.segmentNames.first)
        try alter(fixture, name, "UPDATE batch SET \(change) WHERE id = 1")
        for query in [Query(), Query(reverse: true)] {
            let (seen, report) = try scan(fixture, query)
            #expect(seen < records.count)
            #expect(report.damagedBatches.count == 1)
            #expect(report.damagedBatches[0].hasPrefix("segment \(name), batch 1: "))
        }
        var session = try fixture.session()
        #expect(try session.rows("SELECT id FROM records").count < records.count)
        #expect(session.report.damagedBatches.count == 1)
        let errors = try session.rows("SELECT segment, error FROM batches WHERE error IS NOT NULL")
        #expect(errors.count == 1 && errors.first?.first == .text(name))
    }

    @Test("a file that is gone, cut off or no segment costs what was in it")
    func file() throws {
        for damage in 0..<4 {
            let (fixture, records) = try filled()
            let name = try #require(fixture.segmentNames.first)
            let path = fixture.directory + "/seg/" + name
            let inside = try fixture.sql("SELECT records FROM segments WHERE name = '\(name)'")
            let count = Int(inside.first?.first?.integer ?? 0)
            let bytes = try Files.contents(path)
            switch damage {
            case 0: try Files.remove(path)
            case 1:
                let file = try Files.create(path)
                try Descriptor.write(file.raw, Array(bytes.prefix(700)))
            case 2: try Files.write(String(repeating: "no database ", count: 100), to: path)
            default: try alter(fixture, name, "PRAGMA user_version = 9")
            }
            let (seen, report) = try scan(fixture)
            #expect(seen == records.count - count, "damage \(damage)")
            #expect(report.damagedBatches.first?.hasPrefix("segment \(name): ") == true)
            #expect(report.damagedRecords == UInt64(count))
            // What is known without the file stays known.
            var reader = try SpoolReader(directory: fixture.directory)
            #expect(try reader.count(Query()).0 == UInt64(records.count))
            let error = try fixture.sql("SELECT error FROM segments WHERE name = '\(name)'")
            #expect(error.first?.first?.text?.isEmpty == false)
        }
    }

    @Test(
        "random damage to a file never crashes, and every record is read or missed",
        arguments: 1...16
    )
    func random(seed: UInt64) throws {
        let (fixture, records) = try filled()
        var dice = Dice(state: seed &* 977)
        let name = try #require(fixture.segmentNames.randomElement(using: &dice))
        let path = fixture.directory + "/seg/" + name
        var bytes = try Files.contents(path)
        for _ in 0..<Int.random(in: 1...20, using: &dice) {
            let place = Int.random(in: 0..<bytes.count, using: &dice)
            bytes[place] = UInt8.random(in: 0...255, using: &dice)
        }
        do {
            let file = try Files.create(path)
            try Descriptor.write(file.raw, bytes)
        }
        let all = Set(records.map(\.id.description))
        var reader = try SpoolReader(directory: fixture.directory)
        for query in [Query(), Query(text: TextPattern("paid")), Query(last: 40, reverse: true)] {
            do {
                _ = try reader.forEach(query) { view in
                    let known = all.contains(view.id.description)
                    #expect(known)
                    return true
                }
                _ = try reader.count(query)
            } catch {
                #expect(!error.cause.isEmpty)
            }
        }
        var session = try fixture.session()
        for statement in [
            "SELECT * FROM records", "SELECT * FROM batches", "SELECT * FROM segments",
        ] {
            _ = try? session.rows(statement)
        }
    }

    @Test("a row whose greatest store number is below its least is damaged, and no trap")
    func storeNumbersTurned() {
        var row = BatchRow(cold: 1)
        var part = BatchRow(firstStore: 10)
        (part.t0, part.t1, part.time0, part.time1, part.count) = (1, 2, 1, 2, 3)
        row.add(part)
        let group = BatchGroup(stream: 1, instance: 1, level: 6, count: 3)
        #expect(row.streams([group]).withUnsafeBytes { row.isSound($0) })
        row.firstStore = 100
        #expect(!row.streams([group]).withUnsafeBytes { row.isSound($0) })
    }

    @Test("a hot batch that cannot be read stays where it is, and the others are compacted")
    func unreadableHot() throws {
        let (fixture, _) = try Fixture.mixed(300, size: 30, seed: 2)
        try fixture.flip(batch: 4, at: 40)
        let before = try scan(fixture)
        #expect(before.0 == 270)
        let made = try fixture.compact()
        #expect(made.map(\.records) == [90, 180])
        #expect(try fixture.hotBatches() == 1)
        let after = try scan(fixture)
        #expect(after.0 == 270)
        #expect(after.1 == before.1)
    }

    @Test("a damaged list row costs its segment, not the query")
    func listRow() throws {
        let (fixture, records) = try filled()
        try fixture.alter("UPDATE segment SET n = n + 1 WHERE lo = 1")
        let (seen, report) = try scan(fixture)
        #expect(seen < records.count && report.damagedBatches.count == 1)
    }
}
