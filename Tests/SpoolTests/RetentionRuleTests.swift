import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// Rules for some peers and kinds, on real files.
@Suite struct RetentionRuleTests {
    private static let day: UInt64 = 86_400_000_000_000
    private static let start: Int64 = 1_796_000_000_000_000_000

    /// 600 records in segments and a hot rest; the first 300 were there on day 0, all on day 5.
    private func filled() throws -> (Fixture, [Record]) {
        let fixture = try Fixture()
        try fixture.storeTurns(1...300)
        try fixture.retain(RetentionRules(), now: Self.start)
        try fixture.storeTurns(301...600)
        try fixture.retain(RetentionRules(), now: Self.start + 5 * Int64(Self.day))
        try fixture.compact(.small)
        #expect(fixture.segmentNames.count > 2)
        #expect(try fixture.hotBatches() > 1)
        return (fixture, try fixture.records())
    }

    /// What is left is whole, and all the rest is in the book; gives what is left.
    private func check(_ fixture: Fixture, _ before: [Record], _ at: String = "") throws -> [Record]
    {
        let after = try fixture.records()
        let left = Set(after.map(\.store))
        #expect(before.filter { left.contains($0.store) } == after, "\(at)")
        #expect(try fixture.removed() == Fixture.gone(before, after), "\(at)")
        try fixture.verify()
        let listed = try fixture.sql("SELECT name FROM segments ORDER BY name")
        #expect(listed.map { $0[0].text ?? "" } == fixture.segmentNames, "\(at)")
        return after
    }

    private func isOf(_ peer: String, _ kind: String) -> (Record) -> Bool {
        { $0.instance.identifier == peer && $0.kind == kind }
    }

    @Test("an age of one kind takes its records out of segments, and leaves all others to the byte")
    func age() throws {
        let (fixture, before) = try filled()
        let names = fixture.segmentNames
        let rules = RetentionRules([KeepRule("quick", "odd", age: 2 * Self.day)])
        // At the bound nothing is past it by an eighth, but of a quarter of a segment it is enough.
        let outcome = try fixture.retain(rules, now: Self.start + 3 * Int64(Self.day))
        #expect(outcome.rewritten > 0 && outcome.byReason.map(\.reason) == [.age])
        let after = try check(fixture, before)
        let odd = isOf("quick", "odd")
        let expected = before.filter { !odd($0) || $0.store > 300 }
        #expect(after == expected)
        // A file that was rewritten has another name.
        #expect(Set(names).isSubset(of: fixture.segmentNames) == false)
        #expect(try fixture.retain(rules, now: Self.start + 3 * Int64(Self.day)).removed.isEmpty)
        // A search by columns, and by words, agrees with that.
        #expect(try fixture.records(Query(text: TextPattern("text"))).count == after.count)
    }

    @Test("the first rule that fits counts, and outdoes the age of all")
    func firstRule() throws {
        let (fixture, before) = try filled()
        let rules = RetentionRules(
            age: Self.day,
            [KeepRule("quick", "odd", age: 30 * Self.day), KeepRule("qu*", age: 2 * Self.day)]
        )
        for _ in 1...4 { try fixture.retain(rules, now: Self.start + 11 * Int64(Self.day) / 2) }
        let after = try check(fixture, before)
        func stores(_ peer: String, _ kind: String) -> ClosedRange<UInt64>? {
            let found = after.filter(isOf(peer, kind)).map(\.store)
            return found.first.map { $0...(found.max() ?? 0) }
        }
        #expect(stores("quick", "odd") == 1...599)
        #expect(stores("quick", "even") == 302...598)
        // No rule fits: the age of all, which the last 300 have not reached.
        #expect(stores("slow", "even") == 310...600)
    }

    @Test("a number for each peer and kind leaves just so many of each, the newest")
    func number() throws {
        let (fixture, before) = try filled()
        let rules = RetentionRules([KeepRule("*", records: 100), KeepRule("quick", records: 1)])
        let outcome = try fixture.retain(rules, now: Self.start + 5 * Int64(Self.day))
        #expect(outcome.byReason.map(\.reason) == [.records])
        let after = try check(fixture, before)
        for (peer, kind, count) in [("quick", "odd", 100), ("quick", "even", 100)] {
            let found = after.filter(isOf(peer, kind))
            #expect(found == before.filter(isOf(peer, kind)).suffix(count))
        }
        #expect(after.filter(isOf("slow", "even")).count == 60)
    }

    @Test(
        "case 19: what remains of each peer is the end of its history, and the least of it stays",
        arguments: [10, 60] as [UInt64]
    )
    func leastIsKept(least: UInt64) throws {
        let (fixture, before) = try filled()
        // To half: the slow peer's records lie between the quick one's.
        let rules = RetentionRules(records: 300, [KeepRule("slow", least: least)])
        while try fixture.retain(rules, now: Self.start).goesOn {}
        let after = try check(fixture, before)
        #expect(after.count <= 300 && after.count > 100)
        for peer in ["quick", "slow"] {
            let own = after.filter { $0.instance.identifier == peer }
            let all = before.filter { $0.instance.identifier == peer }
            #expect(own == all.suffix(own.count), "\(peer)")
            if peer == "slow" { #expect(own.count >= Int(least)) }
        }
    }

    @Test(
        "case 17: a bound that cannot be met is told with its option, its value and what is there"
    )
    func unmet() throws {
        let (fixture, before) = try filled()
        var outcome = try fixture.retain(RetentionRules(records: 700, []), now: 5)
        #expect(
            outcome.warnings == [
                "--keep-records 700: the spool has 600, 85 %; the oldest go at 100 %"
            ]
        )
        let rules = RetentionRules(bytes: 1000, [KeepRule("*", least: 1000)])
        outcome = try fixture.retain(rules, now: 5)
        #expect(outcome.removed.isEmpty && !outcome.goesOn)
        let told = try #require(outcome.warnings.first)
        #expect(
            told.hasPrefix("--keep-size 1000: the spool has \(outcome.bytes) bytes, and nothing")
        )
        #expect(told.hasSuffix("kept by 'least' of --keep"))
        #expect(try check(fixture, before).count == 600)
    }

    @Test("case 31: a late record is stored, and goes when it has been there for the age")
    func late() throws {
        let fixture = try Fixture()
        let old = Self.start - 30 * Int64(Self.day)
        try fixture.storeTurns(1...60, at: old)
        try fixture.storeTurns(61...90, at: Self.start + 73 * 365 * Int64(Self.day))
        let rules = RetentionRules(age: 7 * Self.day, [])
        try fixture.retain(rules, now: Self.start)
        #expect(try fixture.records().count == 90)
        try fixture.retain(rules, now: Self.start + 7 * Int64(Self.day) - 1)
        #expect(try fixture.records().count == 90)
        // Case 30: one from 2099 as well; the newest batch stays.
        try fixture.retain(rules, now: Self.start + 7 * Int64(Self.day))
        #expect(try fixture.records().count == 30)
    }

    @Test("a part of a hot batch goes once it is cold, which it becomes for that")
    func hot() throws {
        let fixture = try Fixture()
        try fixture.storeTurns(1...600)
        let before = try fixture.records()
        let rules = RetentionRules([KeepRule("quick", "odd", records: 50)])
        let outcome = try fixture.retain(rules, now: 5)
        #expect(outcome.removed.isEmpty && outcome.coldUpTo == 17)
        let byHand = try Retention.byHand(
            directory: fixture.directory,
            rules: rules,
            now: 6,
            limits: .small
        )
        #expect(byHand.byReason.map(\.records) == [250])
        #expect(try check(fixture, before).filter(isOf("quick", "odd")).count == 50)
        #expect(try fixture.hotBatches() == 3)
    }

    @Test("batches that stay whole are taken as they are, and small segments are joined")
    func copied() throws {
        let fixture = try Fixture()
        func fill(_ first: UInt64) throws {
            try fixture.store([
                (first..<first + 400).map { number in
                    let text = String(repeating: "text \(number * 7919) ", count: 70)
                    let isSlow = number % 20 == 0
                    return record(
                        number,
                        at: Int64(number),
                        peer: isSlow ? "slow" : "quick",
                        payload: #"{"t":"\#(isSlow ? "" : text)"}"#
                    )
                }
            ])
            try fixture.compact(CompactionLimits(hotBytes: 0, keptBytes: 0, smallBytes: 0))
        }
        for first in [1, 401, 801] as [UInt64] { try fill(first) }
        try fixture.storeTurns(1201...1230)
        let before = try fixture.records()
        let old = try fixture.packed()
        #expect(fixture.segmentNames.count == 3 && old.count > 3)
        let rules = RetentionRules([KeepRule("slow", records: 10)])
        #expect(try fixture.retain(rules, now: 5).rewritten == 3)
        _ = try check(fixture, before)
        let large = old.filter { $0.raw > 300_000 }
        let new = try fixture.packed()
        #expect(large.count == 3)
        for batch in large { #expect(new.contains { $0.packed == batch.packed }) }
        // The other way round little is left of each, and they become one.
        let few = RetentionRules([KeepRule("quick", records: 10)])
        var retention = try Retention(directory: fixture.directory, rules: few)
        _ = try retention.run(now: 6)
        #expect(fixture.segmentNames.count == 1)
        #expect(try check(fixture, before).count == 10 + 3 + 10 + 27)
    }

    @Test("a segment that cannot be read keeps its records, is named, and holds nothing up")
    func damaged() throws {
        let (fixture, before) = try filled()
        let name = try #require(fixture.segmentNames.first)
        let path = fixture.directory + "/seg/" + name
        let file = try Database(path: path, mode: .write)
        try file.execute("PRAGMA journal_mode=OFF; UPDATE batch SET data = zeroblob(length(data))")
        let lost = try #require(
            try fixture.sql("SELECT records FROM segments WHERE name = '\(name)'").first?[0]
        )
        let rules = RetentionRules([KeepRule("quick", "odd", age: Self.day)])
        var retention = try Retention(directory: fixture.directory, rules: rules, limits: .small)
        let outcome = try retention.run(now: Self.start + 4 * Int64(Self.day))
        #expect(outcome.unreadable == [name] && outcome.rewritten > 0)
        #expect(
            outcome.warnings.last
                == "segment \(name) cannot be read, and keeps records that are to go"
        )
        // The next run does not try it again.
        retention = try Retention(
            directory: fixture.directory,
            rules: rules,
            limits: .small,
            unreadable: outcome.unreadable
        )
        let again = try retention.run(now: Self.start + 4 * Int64(Self.day))
        #expect(again.unreadable == [name] && again.removed.isEmpty && !again.goesOn)
        #expect(Files.exists(path))
        #expect(lost != .integer(0) && before.count == 600)
    }
}

extension Fixture {
    /// Every cold batch as it is stored.
    fileprivate func packed() throws -> [(raw: Int, packed: SegmentFile.Packed)] {
        var found: [(raw: Int, packed: SegmentFile.Packed)] = []
        for name in segmentNames {
            let file = try SegmentFile(directory + "/seg/" + name)
            var rows: [BatchRow] = []
            try file.forEach { row, _ in rows.append(row) }
            for row in rows { found.append((row.raw, try file.packed(row.id))) }
        }
        return found
    }
}
