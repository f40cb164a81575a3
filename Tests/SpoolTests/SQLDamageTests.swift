import LinuxIO
import SQLite
import Spool
import Testing

/// Whatever a file holds and a statement says, the answer is rows or an error.
@Suite struct SQLDamageTests {
    private static let statements = [
        "SELECT count(*) FROM records", "SELECT * FROM records",
        "SELECT kind, count(*) FROM records GROUP BY kind",
        "SELECT payload FROM records ORDER BY time DESC", "SELECT rowid, peer FROM records",
        "SELECT time FROM records WHERE time > '2026' AND kind = 'line'",
        "SELECT value FROM records('$.total') WHERE value > 3",
        "SELECT id FROM records WHERE text MATCH 'paid' OR seq = 3",
        "SELECT * FROM peers", "SELECT * FROM losses", "SELECT * FROM batches",
        "SELECT a.id FROM records a JOIN records b ON a.store = b.store WHERE b.level = 'err'",
    ]

    @Test("random damage to the file stops no statement but with an error", arguments: 1...12)
    func damagedFile(seed: UInt64) throws {
        let (fixture, _) = try Fixture.mixed(120, size: 15, seed: seed)
        var dice = Dice(state: seed &* 31)
        let path = fixture.directory + "/hot.db"
        var bytes = try Files.contents(path)
        for _ in 0..<Int.random(in: 1...40, using: &dice) {
            // The first page's head is left: without it nothing is opened at all.
            let place = Int.random(in: 100..<bytes.count, using: &dice)
            bytes[place] = UInt8.random(in: 0...255, using: &dice)
        }
        do {
            let file = try Files.create(path)
            try Descriptor.write(file.raw, bytes)
        }
        do {
            var session = try fixture.session()
            for statement in Self.statements {
                do {
                    let rows = try session.rows(statement)
                    #expect(rows.count <= 121, "\(statement)")
                } catch let error as SQLiteError {
                    #expect(!error.message.isEmpty)
                }
            }
        } catch let error as SpoolError {
            #expect(!error.cause.isEmpty)
        }
    }

    @Test("random statements end in rows or an error", arguments: [1, 2])
    func randomStatements(seed: UInt64) throws {
        let (fixture, _) = try Fixture.mixed(60, size: 15, seed: seed)
        var session = try fixture.session()
        var dice = Dice(state: seed)
        let words = [
            "records", "records('$.total')", "peers", "time", "value", "path", "text", "store",
            "rowid", "kind", "seq", "=", "<", ">=", "MATCH", "LIKE", "GLOB", "IN", "IS", "NOT",
            "AND", "OR", "(", ")", "1", "-9223372036854775808", "9223372036854775807", "1e999",
            "'$.total'", "'%'", "''", "NULL", "x'00'", "'2026'", "(SELECT max(store) FROM records)",
        ]
        var ended = 0
        for _ in 0..<600 {
            let condition = (0..<Int.random(in: 1...9, using: &dice))
                .map { _ in words.randomElement(using: &dice) ?? "" }
                .joined(separator: " ")
            let from = Bool.random(using: &dice) ? "records" : "records('$.user.id') JOIN peers"
            if (try? session.rows("SELECT 1 FROM \(from) WHERE \(condition) LIMIT 50")) != nil {
                ended += 1
            }
        }
        #expect(ended > 5)
    }
}
