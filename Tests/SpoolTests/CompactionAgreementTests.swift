import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// The same history before and after compaction, and half way: every answer is the same.
@Suite struct CompactionAgreementTests {
    private static let texts = [
        "total", "Total", "paid", "17", "u3", "\"total\":5", "no such", "text", "a", "t\"",
    ]

    /// Queries of all sorts over `mixedRecords`.
    private func queries(_ dice: inout Dice, _ count: Int) -> [Query] {
        let start: Int64 = 1_796_008_800_000_000_000
        return (0..<count).map { _ in
            func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &dice) == 0 }
            func time() -> Int64 {
                start + Int64.random(in: 0..<600, using: &dice) * 7_000_000_013
            }
            var query = Query()
            if chance(3) { query.since = time() }
            if chance(3) { query.until = time() }
            if chance(3) { query.peers = [Glob("com.*")] }
            if chance(4) { query.kinds = [Glob("order.*"), Glob("5")] }
            if chance(4) { query.levels = 0...UInt8.random(in: 0...7, using: &dice) }
            if chance(2) {
                query.text = TextPattern(Self.texts.randomElement(using: &dice) ?? "")
            }
            if chance(2) { query.last = Int.random(in: 0...200, using: &dice) }
            query.reverse = chance(2)
            return query
        }
    }

    private func answers(_ fixture: Fixture, _ queries: [Query]) throws -> [[Record]] {
        var reader = try SpoolReader(directory: fixture.directory)
        return try queries.map { query in
            let found = try reader.records(query)
            let (count, report) = try reader.count(query)
            #expect(count == UInt64(found.count) && report.isWhole)
            return found
        }
    }

    private func followed(_ fixture: Fixture, _ starts: [UInt64]) throws -> [[UInt64]] {
        var reader = try SpoolReader(directory: fixture.directory)
        return try starts.map { start in
            var found: [UInt64] = []
            var cursor = start
            // In pieces: it is stopped now and then, and goes on from there.
            while true {
                var budget = 37
                let next = try reader.follow(after: cursor, Query()) { view in
                    found.append(view.store)
                    budget -= 1
                    return budget > 0
                }
                if next == cursor { break }
                cursor = next
            }
            return found + [cursor]
        }
    }

    private static let statements = [
        "SELECT * FROM records", "SELECT * FROM records ORDER BY time, store",
        "SELECT *, path, value, text, time_ns, priority FROM records('$.total')",
        "SELECT id FROM records ORDER BY time DESC LIMIT 50", "SELECT rowid, seq FROM records",
        "SELECT kind, level, count(*) FROM records GROUP BY kind, level ORDER BY 1, 2",
        "SELECT count(*), min(time), max(store), sum(seq) FROM records",
        "SELECT store, payload FROM records WHERE text MATCH 'paid' ORDER BY store DESC",
        "SELECT store, value FROM records('$.total') WHERE value > 40",
        "SELECT store FROM records('$.user.id') WHERE value = 'u3'",
        "SELECT store FROM records WHERE seq BETWEEN 5 AND 9 AND peer = 'a/b'",
        "SELECT id FROM records WHERE id = 'com.test.pos/1/7'",
        "SELECT store FROM records WHERE store IN (3, 77, 400) ORDER BY store",
        "SELECT count(*) FROM records WHERE time > '2026-11-30T04'",
        "SELECT peer, count(*) FROM records WHERE time > '2026-11-30T04' GROUP BY peer ORDER BY 1",
        "SELECT a.store FROM records a JOIN records b ON a.store = b.store + 1 WHERE b.seq < 4",
        "SELECT sum(records), min(first_store), max(last_store), max(error) FROM batches",
        "SELECT peer, kind, level, sum(records) FROM groups GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "SELECT * FROM peers", "SELECT * FROM losses",
    ]

    private func tables(_ fixture: Fixture) throws -> [[[SQLValue]]] {
        var session = try fixture.session()
        return try Self.statements.map { try session.rows($0) }
    }

    @Test("hot, half compacted, compacted, joined: the same records in the same order")
    func everyState() throws {
        let (fixture, all) = try Fixture.mixed(900, size: 31, seed: 23)
        let loss = Loss(instance: all[0].instance, sequences: 90...95, reason: "x", times: 1...2)
        do {
            var writer = try fixture.writer()
            _ = try writer.commit(SpoolCommit(losses: [loss]))
        }
        var dice = Dice(state: 77)
        let queries = queries(&dice, 40)
        let starts: [UInt64] = [0, 1, 30, 31, 32, 700, 899, 900]
        let expected = (
            try answers(fixture, queries), try followed(fixture, starts), try tables(fixture)
        )
        let small = CompactionLimits(
            hotBytes: 60_000,
            keptBytes: 20_000,
            segmentBytes: 40_000,
            smallBytes: 0
        )
        let joining = CompactionLimits(hotBytes: 0, keptBytes: 0, smallBytes: 80_000)
        var files: [Int] = []
        for limits in [small, .all, joining, joining] {
            try fixture.compact(limits)
            files.append(fixture.segmentNames.count)
            #expect(try answers(fixture, queries) == expected.0)
            #expect(try followed(fixture, starts) == expected.1)
            for (now, before) in zip(try tables(fixture), expected.2) { #expect(now == before) }
        }
        #expect(files.first ?? 0 > 1)
        let summary = try SpoolReader(directory: fixture.directory).summary()
        #expect(summary.records == 900 && summary.coldRecords == 900)
        #expect(summary.segments == UInt64(fixture.segmentNames.count))
        #expect(summary.lastStore == 900)
        let listed = try fixture.sql("SELECT name, records, error FROM segments")
        #expect(
            listed.map { $0[0].text ?? "" }
                == fixture.segmentNames.sorted {
                    Self.number($0) < Self.number($1)
                }
        )
        #expect(listed.allSatisfy { $0[2] == .null })
    }

    /// Eight streams, each large enough for batches of its own, over two segments.
    private func wide() throws -> Fixture {
        let fixture = try Fixture()
        var dice = Dice(state: 8)
        let filling = String(repeating: "some words to fill it, ", count: 30)
        for part in 0..<12 {
            try fixture.store([
                (0..<160).map { index in
                    let stream = index % 8
                    let total = stream * 100 + Int.random(in: 0..<60, using: &dice)
                    let mark = index % 31 == 0 ? "rare \(stream)" : ""
                    return record(
                        UInt64(part * 20 + index / 8 + 1),
                        at: Int64(part * 1_000 + Int.random(in: 0..<1_500, using: &dice)),
                        peer: "p\(stream)",
                        payload: """
                            {"total":\(total),"user":{"id":"u\(stream)"},"m":"\(filling)\(mark)"}
                            """
                    )
                }
            ])
        }
        return fixture
    }

    private static let wideStatements = [
        "SELECT store, value FROM records('$.total') WHERE value > 640",
        "SELECT store, value FROM records('$.total') WHERE value < 50 AND value >= 20",
        "SELECT count(*) FROM records('$.user.id') WHERE value = 'u5'",
        "SELECT count(*) FROM records('$.user.id') WHERE value = 'none'",
        "SELECT count(*) FROM records('$.user') WHERE value > 3",
        "SELECT count(*) FROM records('$.m') WHERE value > 3",
        "SELECT count(*) FROM records('$.total') WHERE value = 'u5'",
        "SELECT id, length(payload) FROM records ORDER BY time LIMIT 70",
        "SELECT store FROM records WHERE text MATCH 'rare 3'",
        "SELECT store FROM records WHERE word MATCH 'rare 3'",
        "SELECT store FROM records WHERE word MATCH 'rar'",
    ]

    @Test("many batches that overlap, unpacked on two threads: the same answers")
    func wideHistory() throws {
        let fixture = try wide()
        let queries = [
            Query(), Query(reverse: true), Query(text: TextPattern("rare")), Query(last: 100),
            Query(text: TextPattern("rare 3"), reverse: true), Query(last: 30, reverse: true),
            Query(text: TextPattern("rare", isWord: true)), Query(since: 4_000, until: 7_000),
            Query(text: TextPattern("absent")), Query(peers: [Glob("p3")]),
        ]
        let expected = (
            try answers(fixture, queries), try followed(fixture, [0, 777]),
            try Self.wideStatements.map { try fixture.sql($0) }
        )
        try fixture.compact(
            CompactionLimits(hotBytes: 0, keptBytes: 0, segmentBytes: 900_000, smallBytes: 0)
        )
        #expect(fixture.segmentNames.count > 1)
        #expect(try answers(fixture, queries) == expected.0)
        #expect(try followed(fixture, [0, 777]) == expected.1)
        for (statement, rows) in zip(Self.wideStatements, expected.2) {
            #expect(try fixture.sql(statement) == rows, "\(statement)")
        }
        // One that stops early leaves nothing behind that would keep the process.
        var reader = try SpoolReader(directory: fixture.directory)
        for stop in [1, 2, 5, 300] {
            var seen = 0
            _ = try reader.forEach(Query()) { _ in
                seen += 1
                return seen < stop
            }
            #expect(seen == stop)
        }
    }

    private static func number(_ name: String) -> Int {
        Int(name.dropLast(3).split(separator: "-").last ?? "") ?? 0
    }

    @Test("store numbers go on after everything was compacted")
    func numbersGoOn() throws {
        let fixture = try Fixture()
        try fixture.store([(1...50).map { record($0, at: Int64($0)) }])
        try fixture.compact()
        try fixture.store([(51...60).map { record($0, at: Int64($0)) }])
        #expect(try fixture.records().map(\.store) == Array(1...60))
        try fixture.compact()
        #expect(try fixture.records().map(\.store) == Array(1...60))
    }

    @Test("a reader that stands in the middle while all is moved gives each record once")
    func movedUnderAReader() throws {
        for (reverse, last) in [(false, nil), (true, nil), (false, 900)] as [(Bool, Int?)] {
            let (fixture, _) = try Fixture.mixed(1_000, size: 40, seed: 3)
            let query = Query(last: last, reverse: reverse)
            let expected = try fixture.records(query)
            var reader = try SpoolReader(directory: fixture.directory)
            var found: [Record] = []
            let report = try reader.forEach(query) { view in
                found.append(view.copy())
                if found.count == 150 {
                    _ = try? fixture.compact(CompactionLimits(hotBytes: 0, keptBytes: 30_000))
                    // What comes after the first look is not of it.
                    try? fixture.store([[record(99_999, at: 5), record(99_998, at: .max - 9)]])
                }
                if found.count == 600 { _ = try? fixture.compact() }
                return true
            }
            #expect(report.isWhole)
            #expect(found.map(\.id) == expected.map(\.id))
            #expect(found == expected)
            #expect(try fixture.hotBatches() == 0)
        }
    }

    @Test("a statement that stands in the middle while all is moved gives each row once")
    func movedUnderAStatement() throws {
        for statement in [
            "SELECT store, payload FROM records", "SELECT kind FROM records",
            "SELECT id FROM records ORDER BY time DESC", "SELECT rowid FROM records",
        ] {
            let (fixture, _) = try Fixture.mixed(1_000, size: 40, seed: 3)
            let expected = try fixture.sql(statement)
            var session = try fixture.session()
            var rest = Substring(statement)
            var found: [[SQLValue]] = []
            _ = try session.run(first: &rest, header: { _ in }) { row in
                found.append(row)
                if found.count == 150 { _ = try? fixture.compact() }
                return true
            }
            if statement.hasPrefix("SELECT kind") {
                #expect(found.count == 1_000)
            } else {
                #expect(Set(found.map { "\($0)" }) == Set(expected.map { "\($0)" }))
                #expect(found.count == 1_000)
            }
        }
    }
}
