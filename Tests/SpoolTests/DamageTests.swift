import LinuxIO
import SQLite
import Spool
import Telemetry
import Testing

@Suite struct DamageTests {
    private func filled() throws -> Fixture {
        let fixture = try Fixture()
        for batch in 0..<5 {
            let records: [Record] = (1...20).map { (index: Int) -> Record in
                record(UInt64(batch * 20 + index), at: Int64(batch * 100 + index))
            }
            try fixture.store([records])
        }
        return fixture
    }

    private func scan(_ fixture: Fixture, _ query: Query = Query()) throws -> (Int, ScanReport) {
        var reader = try SpoolReader(directory: fixture.directory)
        var seen = 0
        let report = try reader.forEach(query) { _ in
            seen += 1
            return true
        }
        return (seen, report)
    }

    @Test func changedBlobIsSkippedAndNamed() throws {
        let fixture = try filled()
        try fixture.flip(batch: 2, at: 30)
        for query in [Query(), Query(reverse: true), Query(last: 80)] {
            let (seen, report) = try scan(fixture, query)
            #expect(seen == 80)
            #expect(report.damagedBatches == ["batch 2: checksum differs"])
            #expect(report.damagedRecords == 20)
        }
        var reader = try SpoolReader(directory: fixture.directory)
        var seen = 0
        let last = try reader.follow(after: 0, Query()) { _ in
            seen += 1
            return true
        }
        #expect(seen == 80)
        #expect(last == 100)
        #expect(reader.followReport.damagedRecords == 20)
    }

    @Test(arguments: [
        "t0 = t0 + 1", "time1 = 1 << 60", "n = 19", "raw = raw + 1", "first_store = 7",
        "crc = crc + 1", "streams = zeroblob(30)", "streams = ''", "data = ''", "n = -1",
        "raw = 1 << 62", "data = zeroblob(10)", "t1 = t0 - 1", "n = 1 << 40",
    ])
    func changedColumnIsFound(change: String) throws {
        let fixture = try filled()
        try fixture.alter("UPDATE batch SET \(change) WHERE id = 3")
        let (seen, report) = try scan(fixture)
        #expect(seen == 80)
        #expect(report.damagedBatches.count == 1)
        var reader = try SpoolReader(directory: fixture.directory)
        _ = try reader.summary()
        _ = try reader.follow(after: 10, Query()) { _ in true }
    }

    @Test func noMutationOfABlobCrashes() throws {
        let fixture = try filled()
        var dice = Dice(state: 11)
        for _ in 0..<60 {
            let offset = Int.random(in: 0..<10_000, using: &dice)
            try fixture.flip(batch: Int64.random(in: 1...5, using: &dice), at: offset)
            let (seen, report) = try scan(fixture)
            #expect(UInt64(seen) + report.damagedRecords == 100)
        }
    }

    @Test func damagedBooksAreAnErrorNotACrash() throws {
        let fixture = try filled()
        for blob in ["x''", "x'01'", "x'0100ffffffffffffffffff01'", "x'020505000a'"] {
            try fixture.alter("UPDATE peer_state SET accounted = \(blob)")
            let reader = try SpoolReader(directory: fixture.directory)
            #expect(throws: SpoolError.self) { try reader.peers() }
        }
        // The records do not need them.
        #expect(try scan(fixture).0 == 100)
    }

    @Test func damagedLastRowDoesNotStopTheWriter() throws {
        let fixture = try filled()
        try fixture.alter("UPDATE batch SET n = 1 << 40 WHERE id = 5")
        var writer = try fixture.writer()
        #expect(writer.nextStore > 100)
        let given = try writer.commit(SpoolCommit(records: .init([record(101, at: 900)])))
        #expect(given != nil)
        let (seen, report) = try scan(fixture)
        #expect(seen == 81)
        #expect(report.damagedBatches == ["batch 5: its row is damaged"])
    }

    @Test func zeroedPagesCostOnlyWhatLayOnThem() throws {
        let fixture = try Fixture()
        var batches: [[Record]] = []
        for batch in 0..<60 {
            let noise = (0..<900).map { ($0 * 7_919 + batch * 104_729) % 9_973 }
            batches.append([record(UInt64(batch + 1), at: Int64(batch), payload: "\(noise)")])
        }
        try fixture.store(batches)
        let path = fixture.directory + "/hot.db"
        var bytes = try Files.contents(path)
        let middle = bytes.count / 2 / 8192 * 8192
        for offset in middle..<middle + 3 * 8192 { bytes[offset] = 0 }
        let file = try Files.create(path)
        try Descriptor.write(file.raw, bytes)
        let (seen, _) = try scan(fixture)
        #expect(seen >= 40)
        #expect(seen < 60)
    }

    @Test func unknownNamesAreDamage() throws {
        let fixture = try filled()
        try fixture.alter("DELETE FROM stream")
        let (seen, report) = try scan(fixture)
        #expect(seen == 0)
        #expect(report.damagedRecords == 100)
    }
}
