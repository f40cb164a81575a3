import LinuxIO
import SQLite
import Spool
import Telemetry
import Testing

/// Statements on `records` and on a plain table with the same rows say the same.
@Suite struct SQLAgreementTests {
    /// Conditions a seed; INTEL_SQL_ROUNDS for more.
    private static let rounds = Environment["INTEL_SQL_ROUNDS"].flatMap { Int($0) } ?? 50

    /// One random condition, for `records` and for the plain table.
    private struct Clause {
        var records: String
        var plain: String

        init(_ both: String) {
            records = both
            plain = both
        }

        init(_ records: String, plain: String) {
            self.records = records
            self.plain = plain
        }
    }

    private static func pick(_ list: [String], _ dice: inout Dice) -> String {
        list.randomElement(using: &dice) ?? ""
    }

    private static func clause(_ records: [Record], _ dice: inout Dice) -> Clause {
        let some = records.randomElement(using: &dice) ?? record(1, at: 1)
        let order = pick(["=", "<", "<=", ">", ">=", "IS", "<>", "=="], &dice)
        let store = Int.random(in: -3...records.count + 3, using: &dice)
        switch Int.random(in: 0..<13, using: &dice) {
        case 0:
            let text = pick(
                [
                    "'2026-11-30T06'", "'2026'", "''", "'x'", "'1970-01-01T00:00:00.000000000Z'",
                    "'1677-09-21T00:12:44.000000000Z'", "5", "NULL", "'2026-11-30 06:00:00'",
                    "(SELECT time FROM plain WHERE store = \(store))", "x'32'",
                ],
                &dice
            )
            return Clause("time \(order) \(text)")
        case 1:
            return Clause("time_ns \(order) \(some.envelope.time == .min ? 0 : some.envelope.time)")
        case 2:
            let kind = pick(["'\(some.kind)'", "5", "'5'", "CAST('5' AS INTEGER)", "NULL"], &dice)
            return Clause("kind \(order) \(kind)")
        case 3:
            let list = pick(["'line', '5'", "5, 'line'", "'é'", "NULL", "'e\u{301}', NULL"], &dice)
            return Clause("kind IN (\(list))")
        case 4:
            let peer = pick(["'com.%'", "'COM.test.p_s'", "'%till'", "'a/b'", "'é%'", "''"], &dice)
            return Clause("\(pick(["peer", "kind"], &dice)) LIKE \(peer)")
        case 5:
            let glob = pick(["'com.*'", "'[cC]om*'", "'a?b'", "'*'", "'order.[^p]*'"], &dice)
            return Clause("\(pick(["peer", "kind"], &dice)) GLOB \(glob)")
        case 6: return Clause("level \(order) '\(pick(["err", "info", "x", "debug"], &dice))'")
        case 7: return Clause("priority \(order) \(pick(["3", "0", "9", "2.5", "'4'"], &dice))")
        case 8:
            let column = pick(["seq", "store", "epoch"], &dice)
            let value = pick(["\(store)", "'\(store)'", "\(store).5", "NULL", "1"], &dice)
            return Clause("\(column) \(order) \(value)")
        case 9: return Clause("\(pick(["seq", "store", "priority"], &dice)) IN (\(store), 3, 5)")
        case 10: return Clause("id = '\(some.id)'")
        case 11:
            let pattern = pick(["'%paid%'", "'%PAID%'", "'%\"sku\":\"S4%'", "'_total%'"], &dice)
            return Clause("payload LIKE \(pattern)")
        default:
            let word = pick(["paid", "sku", "S4", "absent", "Total"], &dice)
            let folded = word == word.lowercased()
            let column = folded ? "lower(payload)" : "payload"
            return Clause("text MATCH '\(word)'", plain: "instr(\(column), '\(word)') > 0")
        }
    }

    @Test("random conditions give the same rows with and without push-down", arguments: [1, 2])
    func conditions(seed: UInt64) throws {
        let (fixture, records) = try Fixture.mixed(600, size: 40, seed: seed)
        var session = try fixture.session()
        _ = try session.rows(
            """
            CREATE TABLE plain AS SELECT *, time_ns, received_ns, priority FROM records;
            """
        )
        // CREATE TABLE AS keeps no declared type but the affinity, which is what counts here.
        #expect(try session.column("SELECT count(*) FROM plain") == [.integer(600)])
        var dice = Dice(state: seed &* 77)
        var found = 0
        for round in 0..<Self.rounds {
            let clauses = (0..<Int.random(in: 1...3, using: &dice)).map { _ in
                Self.clause(records, &dice)
            }
            let joint = Int.random(in: 0..<4, using: &dice) == 0 ? " OR " : " AND "
            let tail = Self.pick(["", "", " ORDER BY time DESC LIMIT 7", " ORDER BY store"], &dice)
            let by = tail.contains("LIMIT") ? "time" : "id"
            let first =
                "SELECT \(by) FROM records WHERE "
                + clauses.map(\.records).joined(separator: joint) + tail
            let second =
                "SELECT \(by) FROM plain WHERE "
                + clauses.map(\.plain).joined(separator: joint) + tail
            var left = try session.column(first).compactMap(\.text)
            var right = try session.column(second).compactMap(\.text)
            if tail.isEmpty {
                left.sort()
                right.sort()
            }
            found += right.count
            #expect(left == right, "seed \(seed), round \(round): \(first)")
            let counted = try session.column(
                "SELECT count(*) FROM records WHERE "
                    + clauses.map(\.records).joined(separator: joint)
            )
            let expected = try session.column(
                "SELECT count(*) FROM plain WHERE " + clauses.map(\.plain).joined(separator: joint)
            )
            #expect(counted == expected, "seed \(seed), round \(round): count of \(first)")
        }
        #expect(found > 2 * Self.rounds)
    }

    @Test("a value at a path is what ->> gives, and its comparisons agree", arguments: [4, 5])
    func paths(seed: UInt64) throws {
        let (fixture, _) = try Fixture.mixed(400, size: 40, seed: seed)
        var session = try fixture.session()
        _ = try session.rows("CREATE TABLE plain AS SELECT * FROM records;")
        let paths = [
            "$.total", "$.user.id", "$.items[0]", "$.items[1].sku", "$.items[#-1].sku", "$.user",
            "$", "$.absent", "$.items[7]", "$.other", "$.message",
        ]
        let comparisons = [
            "> 40", ">= 40", "< 12.5", "<= 0", "= 17", "= '17'", "= 'u3'", "> 'S5'", "IS NULL",
            "IS NOT NULL", "> CAST('40' AS INTEGER)", "= NULL", "BETWEEN 3 AND 20", "<> 5",
            "IN (5, 'u3', 7)", "LIKE 'u%'", "> 9007199254740993",
        ]
        // A key that is written with escapes is a key all the same; SQLite 3.40 does not see it.
        let isPlain = "payload NOT LIKE '%\\u0074otal%'"
        for path in paths {
            let values = try session.rows(
                "SELECT value, typeof(value) FROM records('\(path)') "
                    + "WHERE \(isPlain) ORDER BY store"
            )
            let expected = try session.rows(
                "SELECT payload ->> '\(path)', typeof(payload ->> '\(path)') FROM plain "
                    + "WHERE \(isPlain) ORDER BY store"
            )
            #expect(values == expected, "\(path)")
            for comparison in comparisons {
                let left = try session.column(
                    "SELECT store FROM records('\(path)') WHERE value \(comparison) AND \(isPlain) "
                        + "ORDER BY store"
                )
                let right = try session.column(
                    "SELECT store FROM plain WHERE payload ->> '\(path)' \(comparison) AND "
                        + "\(isPlain) ORDER BY store"
                )
                #expect(left == right, "\(path) \(comparison)")
            }
        }
        let escaped = try session.column(
            "SELECT count(*) FROM records('$.total') WHERE value IS NOT NULL AND NOT (\(isPlain))"
        )
        #expect(escaped != [.integer(0)])
    }
}
