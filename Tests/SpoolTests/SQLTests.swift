import SQLite
import Spool
import Telemetry
import Testing

/// The spool's tables in SQL.
@Suite struct SQLTests {
    @Test("trap 17: EXPLAIN QUERY PLAN names what is pushed down, and nothing that cannot be")
    func plans() throws {
        let (fixture, _) = try Fixture.mixed(50, size: 10, seed: 1)
        var session = try fixture.session()
        let table: [(String, String)] = [
            ("count(*) FROM records", "0:"),
            ("peer, count(*) FROM records GROUP BY peer", "0:"),
            ("count(*) FROM records WHERE kind = 'line' AND time > '2026'", "0:time> kind="),
            ("count(*) FROM records WHERE kind IN ('line', '5')", "1:kind[]"),
            ("count(*) FROM records WHERE time BETWEEN '2026' AND '2027'", "0:time>= time<="),
            ("count(*) FROM records WHERE peer GLOB 'com.*'", "0:peer*"),
            ("count(*) FROM records WHERE peer LIKE 'com.%'", "0:peer%"),
            ("count(*) FROM records WHERE level = 'err'", "0:level="),
            ("count(*) FROM records WHERE priority <= 3", "0:priority<="),
            ("payload FROM records WHERE seq = 5", "0:seq= payload"),
            ("count(*) FROM records WHERE text MATCH 'paid'", "0:text~"),
            ("count(*) FROM records WHERE word MATCH 'paid'", "0:word~"),
            ("payload FROM records WHERE payload LIKE '%paid%'", "0:payload% payload"),
            ("payload FROM records WHERE store = 7", "0:store= payload"),
            ("payload FROM records WHERE rowid = 7", "0:store= payload"),
            ("payload FROM records WHERE id = 'a/1/7'", "0:id= payload"),
            ("time, value FROM records('$.total') WHERE value > 40", "0:path= value> payload"),
            ("payload FROM records ORDER BY time DESC LIMIT 3", "0:by:time- payload limit"),
            ("seq FROM records ORDER BY store LIMIT 3", "0:by:store envelope"),
            // SQLite sorts, and so takes all rows before it counts.
            ("payload FROM records ORDER BY seq LIMIT 3", "0:payload"),
            ("payload FROM records LIMIT 3", "0:payload limit"),
            ("seq FROM records ORDER BY store", "0:by:store envelope"),
            // SQLite offers a table no comparison of an expression over a column.
            ("count(*) FROM records WHERE payload ->> '$.total' > 40", "0:payload"),
            ("count(*) FROM records WHERE lower(kind) = 'line'", "0:"),
            ("count(*) FROM records WHERE kind = 'line' COLLATE NOCASE", "0:"),
        ]
        for (statement, expected) in table {
            let plan = try session.plan("SELECT " + statement)
            let start = try #require(plan.firstRange(of: "VIRTUAL TABLE INDEX ")?.upperBound)
            let found = plan[start...].prefix { $0 != "\n" }
            // SQLite chooses the order of the conditions.
            let words = Set(found.dropFirst(2).split(separator: " "))
            #expect(words == Set(expected.dropFirst(2).split(separator: " ")), "\(plan)")
            #expect(found.prefix(2) == expected.prefix(2), "\(plan)")
        }
    }

    @Test("sums over groups are the counts of records, and no batch is opened for them")
    func groups() throws {
        let (fixture, _) = try Fixture.mixed(300, size: 20, seed: 4)
        let by = "peer, epoch, kind, level, pid, uid"
        let counts = "SELECT \(by), count(*) FROM records GROUP BY \(by) ORDER BY \(by)"
        let sums = "SELECT \(by), sum(records) FROM groups GROUP BY \(by) ORDER BY \(by)"
        for isCold in [false, true] {
            if isCold { try fixture.compact() }
            var session = try fixture.session()
            #expect(try session.rows(sums) == session.rows(counts))
            let before = session.openedBatches
            #expect(try session.rows("SELECT sum(records) FROM groups") == [[.integer(300)]])
            #expect(session.openedBatches == before)
            let kept = isCold ? "segment" : "batch"
            let rest = "SELECT count(*) FROM groups WHERE \(kept) IS NULL"
            #expect(try session.rows(rest) == [[.integer(0)]])
        }
    }

    @Test("what is pushed down opens fewer batches")
    func opensFewer() throws {
        let fixture = try Fixture()
        var batches: [[Record]] = []
        for batch in 0..<20 {
            var records: [Record] = []
            for number in 1...10 {
                let sequence = batch * 10 + number
                let key = batch == 3 ? "needle" : "n"
                records.append(
                    record(
                        UInt64(sequence),
                        at: Int64(sequence) * 1_000_000_000,
                        kind: batch == 7 ? "rare" : "common",
                        payload: "{\"\(key)\":\(sequence)}"
                    )
                )
            }
            batches.append(records)
        }
        try fixture.store(batches)
        let table: [(sql: String, opened: UInt64, rows: Int64)] = [
            ("SELECT count(*) FROM records", 0, 200),
            ("SELECT count(*) FROM records WHERE kind = 'rare'", 0, 10),
            ("SELECT count(*) FROM records WHERE kind IN ('rare', 'none')", 0, 10),
            ("SELECT count(payload) FROM records WHERE kind = 'rare'", 1, 10),
            ("SELECT count(*) FROM records WHERE time_ns <= 15000000000", 1, 15),
            ("SELECT count(*) FROM records WHERE time < '1970-01-01T00:00:11'", 0, 10),
            ("SELECT count(*) FROM records WHERE time < '1970-01-01T00:00:12'", 1, 11),
            ("SELECT count(payload) FROM records WHERE store = 55", 1, 1),
            ("SELECT count(payload) FROM records WHERE rowid BETWEEN 55 AND 65", 2, 11),
            ("SELECT count(payload) FROM records", 20, 200),
            ("SELECT count(payload) FROM records WHERE kind IS 'rare'", 20, 10),
            ("SELECT max(time) FROM (SELECT time FROM records ORDER BY time DESC LIMIT 1)", 1, 0),
        ]
        for (sql, opened, rows) in table {
            var session = try fixture.session()
            let found = try session.column(sql)
            if rows > 0 { #expect(found == [.integer(rows)], "\(sql)") }
            #expect(session.openedBatches == opened, "\(sql)")
        }
    }

    @Test("columns that a walk without unpacking has not are found all the same")
    func lateColumns() throws {
        let (fixture, records) = try Fixture.mixed(300, size: 50, seed: 4)
        var session = try fixture.session()
        let all = try session.column("SELECT rowid FROM records ORDER BY rowid")
        #expect(all == (1...300).map { .integer($0) })
        // Two walks by different conditions, joined by their row numbers.
        let either = try session.column(
            "SELECT count(*) FROM records WHERE kind = 'line' OR peer = 'org.other'"
        )
        let wanted = records.filter { $0.kind == "line" || $0.instance.identifier == "org.other" }
        #expect(either == [.integer(Int64(wanted.count))])
        let pairs = try session.rows("SELECT peer, seq FROM records WHERE time > '2'")
        let expected = records.filter { $0.envelope.time > 0 && $0.envelope.time < .max - 1 }
        #expect(pairs.count >= expected.count)
        let known = Set(records.map { "\($0.instance.identifier) \($0.envelope.sequence)" })
        for pair in pairs {
            guard case .integer(let sequence) = pair[1] else { continue }
            #expect(known.contains("\(pair[0].text ?? "") \(sequence)"))
        }
    }

    @Test("trap 1: a statement that waits between two rows holds up no checkpoint")
    func holdsNothing() throws {
        let (fixture, _) = try Fixture.mixed(400, size: 20, seed: 2)
        var session = try fixture.session()
        for sql in [
            "SELECT payload FROM records", "SELECT kind FROM records", "SELECT * FROM peers",
            "SELECT payload FROM records ORDER BY time DESC", "SELECT id FROM batches",
        ] {
            var rest = Substring(sql)
            var isFirst = true
            let directory = fixture.directory
            _ = try session.run(first: &rest, header: { _ in }) { _ in
                guard isFirst else { return true }
                isFirst = false
                let busy = try? {
                    let other = try Database(path: directory + "/hot.db", mode: .write)
                    try other.execute("UPDATE stream SET kind = kind")
                    return try other.checkpoint(.truncate).isBusy
                }()
                #expect(busy == false, "\(sql)")
                return true
            }
        }
    }

    @Test("nonsense is an error with words, and the next statement works")
    func errors() throws {
        let (fixture, _) = try Fixture.mixed(20, size: 10, seed: 3)
        var session = try fixture.session()
        let wrong = [
            "SELECT value FROM records('total')", "SELECT value FROM records('$.')",
            "SELECT value FROM records('$[x]')", "SELECT value FROM records(5)",
            "SELECT value FROM records('$[99999999999999999999]')",
            "CREATE VIRTUAL TABLE x USING intel_spool",
            "CREATE VIRTUAL TABLE x USING intel_spool('/nowhere')",
            "CREATE VIRTUAL TABLE x USING intel_spool('/tmp', nothing)",
            "INSERT INTO records(peer) VALUES('x')", "DELETE FROM records", "SELEC 1",
        ]
        for sql in wrong {
            do {
                _ = try session.rows(sql)
                Issue.record("\(sql) is no error")
            } catch let error as SQLiteError {
                #expect(!error.message.isEmpty, "\(sql)")
            }
            #expect(try session.column("SELECT count(*) FROM records") == [.integer(20)])
        }
        let many = (0..<60).map { "time_ns <> \($0) AND time > '\($0 % 10)'" }
        let joint = "SELECT count(*) FROM records WHERE " + many.joined(separator: " AND ")
        #expect(try session.rows(joint).count == 1)
        let empty = [
            "records WHERE kind = NULL", "records('$.total') WHERE value > NULL",
            "records WHERE value > 1", "records WHERE id = 'x'", "records WHERE seq > 1e300",
            "records WHERE text MATCH NULL", "records WHERE kind IN (SELECT 1 WHERE 0)",
            "records WHERE epoch = -5", "records WHERE seq > 9223372036854775807",
            "records WHERE store < -9223372036854775808", "records WHERE time < ''", "segments",
        ]
        for source in empty {
            #expect(
                try session.column("SELECT count(*) FROM \(source)") == [.integer(0)],
                "\(source)"
            )
        }
    }

    @Test("a damaged batch is passed over, counted, and told by the column error")
    func damage() throws {
        let (fixture, _) = try Fixture.mixed(40, size: 10, seed: 5)
        try fixture.flip(batch: 2, at: 60)
        var session = try fixture.session()
        #expect(try session.rows("SELECT payload FROM records").count == 30)
        #expect(try session.rows("SELECT payload FROM records ORDER BY time").count == 30)
        #expect(session.report.damagedBatches.count == 1)
        #expect(session.report.damagedRecords == 10)
        let errors = try session.rows("SELECT id, error FROM batches WHERE error IS NOT NULL")
        #expect(errors == [[.integer(2), .text("checksum differs")]])
        #expect(try session.column("SELECT count(*) FROM batches") == [.integer(4)])
    }

    @Test("a stop ends a statement at the next batch")
    func stops() throws {
        let (fixture, _) = try Fixture.mixed(100, size: 10, seed: 6)
        let asked = Counter()
        var session = try SQLSession(directory: fixture.directory) {
            asked.count += 1
            return asked.count > 5
        }
        do {
            _ = try session.rows("SELECT count(payload) FROM records WHERE text MATCH 'absent'")
            Issue.record("it was not stopped")
        } catch let error as SQLiteError {
            #expect(error.isInterrupted)
        }
        #expect(session.openedBatches < 10)
    }
}

private final class Counter {
    var count = 0
}

extension SQLTests {
    @Test("table removed tells what retention has removed, by peer, kind and reason")
    func removed() throws {
        let fixture = try Fixture()
        try fixture.storeTurns(1...90)
        #expect(try fixture.sql("SELECT * FROM removed") == [])
        var rules = RetentionRules()
        rules.records = 60
        try fixture.retain(rules, now: 1_796_000_000_000_000_000)
        let rows = try fixture.sql(
            "SELECT peer, kind, reason, records, first_store, last_store FROM removed ORDER BY 1, 2"
        )
        #expect(rows.map { $0.map { $0.text ?? "" } }.map { $0[0] } == ["quick", "quick", "slow"])
        #expect(rows[0][1] == .text("even") && rows[0][2] == .text("records"))
        #expect(rows.map { $0[3] } == [.integer(12), .integer(15), .integer(3)])
        #expect(rows[2][4] == .integer(1) && rows[2][5] == .integer(30))
        let times = try fixture.sql("SELECT earliest, latest, at FROM removed LIMIT 1")[0]
        #expect(times[0] == .text("1970-01-01T00:00:01.000000000Z"))
        #expect(times[1] == .text("1970-01-01T00:00:30.000000000Z"))
        #expect(times[2].text?.hasPrefix("2026-11-30T") == true)
    }
}
