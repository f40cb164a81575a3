import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// Traps of an SQLite spool that no other suite walks into: see docs/traps.md.
@Suite struct TrapTests {
    @Test("trap 2, trap 16: a writer zeroes no freed page and runs no checkpoint in a commit")
    func settings() throws {
        let fixture = try Fixture()
        try fixture.store([[record(1, at: 1)]])
        let database = try Database(path: fixture.directory + "/hot.db", mode: .write)
        // As the library of this machine would have it.
        try database.execute("PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint=1000")
        try Schema.settleWriter(database, .full)
        #expect(try database.integer("PRAGMA secure_delete") == 0)
        #expect(try database.integer("PRAGMA wal_autocheckpoint") == 0)
        #expect(try database.integer("PRAGMA synchronous") == 2)
    }

    @Test("trap 11: the blob is the last column, and filters have a table of their own")
    func columns() throws {
        let fixture = try Fixture()
        try fixture.store([[record(1, at: 1)], [record(2, at: 2)]])
        let query = "SELECT max(cid), (SELECT cid FROM pragma_table_info('batch') "
        let last = query + "WHERE name = 'data') FROM pragma_table_info('batch')"
        func check(_ path: String) throws {
            let database = try Database(path: path, mode: .read)
            let row = try database.prepare(last)
            #expect(try row.step())
            #expect(row.integer(0) > 0 && row.integer(0) == row.integer(1))
        }
        try check(fixture.directory + "/hot.db")
        try fixture.compact()
        let segment = fixture.directory + "/seg/" + (try #require(fixture.segmentNames.first))
        try check(segment)
        let database = try Database(path: segment, mode: .read)
        #expect(try database.integer("SELECT count(*) FROM words") == 1)
    }

    /// A spool of 50 batches whose records are out of order, one of them, perhaps, of 2099; batches
    /// that are opened for ten units of time, hot and cold.
    private func opened(isWild: Bool) throws -> (hot: UInt64, cold: UInt64) {
        let fixture = try Fixture()
        let filling = String(repeating: "filling of some length ", count: 30)
        for batch in 0..<50 {
            let records: [Record] = (1...60).reversed().map { (index: Int) -> Record in
                let received = Int64(batch * 1000 + index)
                let isOdd = isWild && batch == 10 && index == 30
                return record(
                    UInt64(batch * 60 + index),
                    at: isOdd ? 4_000_000_000_000_000_000 : received,
                    peer: "p\(batch % 5)",
                    order: received,
                    payload: #"{"n":\#(index),"t":"\#(filling)"}"#
                )
            }
            try fixture.store([records])
        }
        func opened() throws -> UInt64 {
            var reader = try SpoolReader(directory: fixture.directory)
            #expect(try reader.records(Query(since: 30_010, until: 30_020)).count == 11)
            return reader.openedBatches
        }
        let hot = try opened()
        // Segments of ten batches: the window is in one, the wild record in another.
        try fixture.compact(
            CompactionLimits(hotBytes: 0, keptBytes: 0, segmentBytes: 420_000, smallBytes: 0)
        )
        #expect(fixture.segmentNames.count > 3)
        return (hot, try opened())
    }

    @Test("trap 13: records out of order and a clock of 2099 cost one batch more, hot and cold")
    func wildClock() throws {
        let (tame, wild) = (try opened(isWild: false), try opened(isWild: true))
        #expect(tame.hot == 1 && wild.hot == 2)
        #expect(tame.cold <= 2 && wild.cold == tame.cold + 1, "\(tame) \(wild)")
    }

    @Test("trap 15: thousands of streams share batches")
    func manyStreams() throws {
        let fixture = try Fixture()
        let text = String(repeating: "some words ", count: 24)
        let records = (0..<4000).map { index in
            record(
                UInt64(index / 1000 + 1),
                at: Int64(index),
                peer: "p\(index % 1000)",
                payload: #"{"n":\#(index),"t":"\#(text)"}"#
            )
        }
        try fixture.store(stride(from: 0, to: 4000, by: 400).map { Array(records[$0..<$0 + 400]) })
        try fixture.compact()
        let streams = "SELECT count(DISTINCT peer) FROM records"
        #expect(try fixture.sql(streams) == [[.integer(1000)]])
        let batches = try fixture.sql("SELECT count(*) FROM batches WHERE segment IS NOT NULL")
        let count = try #require(batches.first?.first?.integer)
        #expect((1...8).contains(count), "\(count) batches")
    }
}
