import SQLite
import Spool
import Telemetry
import Testing

/// What a statement gives, as rows of values; its errors are thrown.
extension SQLSession {
    mutating func rows(_ sql: String) throws -> [[SQLValue]] {
        var rest = Substring(sql)
        var found: [[SQLValue]] = []
        while try run(
            first: &rest,
            header: { _ in },
            { row in
                found.append(row)
                return true
            }
        ) {}
        return found
    }

    /// The first value of each row.
    mutating func column(_ sql: String) throws -> [SQLValue] {
        try rows(sql).map { $0[0] }
    }

    /// The plan of a statement as EXPLAIN QUERY PLAN tells it.
    mutating func plan(_ sql: String) throws -> String {
        try rows("EXPLAIN QUERY PLAN " + sql).compactMap { $0.last?.text }.joined(separator: "\n")
    }
}

/// Records of several peers, kinds, levels and days, with odd ones among them, in many small
/// commits.
func mixedRecords(_ count: Int, _ dice: inout Dice) -> [Record] {
    let peers = ["com.test.pos", "com.test.till", "org.other", "a/b", "Com.Test.Pos"]
    let kinds = ["order.created", "order.paid", "line", "5", "é", "e\u{301}"]
    var sequences: [String: UInt64] = [:]
    return (0..<count).map { index in
        let peer = peers[Int.random(in: 0..<peers.count, using: &dice)]
        let epoch: UInt64 = Bool.random(using: &dice) ? 1 : 1_796_000_000_000_000_000
        let name = "\(peer) \(epoch)"
        sequences[name, default: 0] += 1
        var time = 1_796_008_800_000_000_000 + Int64(index) * 7_000_000_013
        if Int.random(in: 0..<20, using: &dice) == 0 {
            time =
                [0, -1, Int64.min, .max, time - 999_000_000_000].randomElement(using: &dice) ?? 0
        }
        let total = Int.random(in: -5..<100, using: &dice)
        let payload = [
            #"{"total":\#(total),"user":{"id":"u\#(total % 7)"},"items":[1,{"sku":"S\#(total)"}]}"#,
            #"{"message":"Total \#(total) paid","total":"\#(total)"}"#,
            #"{"total":\#(total).5}"#, #"{"total":null}"#, #"{"other":true}"#,
            #"{"message":"tot\u0061l","\u0074otal":\#(total)}"#, #""text""#, "17",
        ]
        return record(
            sequences[name] ?? 0,
            at: time,
            peer: peer,
            epoch: epoch,
            kind: kinds[Int.random(in: 0..<kinds.count, using: &dice)],
            level: Level(rawValue: UInt8.random(in: 0..<8, using: &dice)) ?? .info,
            payload: payload[Int.random(in: 0..<payload.count, using: &dice)]
        )
    }
}

extension Fixture {
    /// A spool of `count` records of `mixedRecords`, `size` in a commit.
    static func mixed(_ count: Int, size: Int, seed: UInt64) throws -> (Fixture, [Record]) {
        var dice = Dice(state: seed)
        let records = mixedRecords(count, &dice)
        let fixture = try Fixture()
        try fixture.store(
            stride(from: 0, to: count, by: size).map {
                Array(records[$0..<min(count, $0 + size)])
            }
        )
        return (fixture, records)
    }

    func session() throws -> SQLSession {
        try SQLSession(directory: directory)
    }
}
