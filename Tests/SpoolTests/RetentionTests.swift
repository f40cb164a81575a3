import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// Removing what the rules do not keep, on real files.
@Suite struct RetentionTests {
    /// 600 records in several segments, and some in the hot tier.
    private func filled() throws -> (Fixture, [Record]) {
        let (fixture, _) = try Fixture.mixed(600, size: 30, seed: 4)
        try fixture.compact(
            CompactionLimits(hotBytes: 0, keptBytes: 12_000, segmentBytes: 12_000, smallBytes: 0)
        )
        #expect(fixture.segmentNames.count > 2)
        #expect(try fixture.hotBatches() > 1)
        return (fixture, try fixture.records())
    }

    private func book(_ fixture: Fixture) throws -> [RemovedSpan] {
        try SpoolReader(directory: fixture.directory).removed()
    }

    /// The records that are left, and that the others are in the book.
    private func check(_ fixture: Fixture, _ before: [Record], _ at: String) throws -> Int {
        let after = try fixture.records()
        let left = Set(after.map(\.store))
        #expect(before.filter { left.contains($0.store) } == after, "\(at)")
        #expect(try fixture.removed() == Fixture.gone(before, after), "\(at)")
        return after.count
    }

    @Test("beyond the number of records the oldest segments and batches go, and the book says so")
    func number() throws {
        let (fixture, before) = try filled()
        let writer = try fixture.writer()
        var rules = RetentionRules()
        rules.records = 300
        let preview = try Retention.preview(directory: fixture.directory, rules: rules, now: 5)
        #expect(try fixture.records() == before)
        var retention = try Retention(directory: fixture.directory, rules: rules)
        let outcome = try retention.run(now: 5)
        #expect(outcome.removed == preview.removed)
        let left = try check(fixture, before, "after")
        #expect(left <= 300 && left > 200)
        // What is gone is gone from the folder, and what is left is of the end of the history.
        let listed = try fixture.sql("SELECT name FROM segments ORDER BY name")
        #expect(listed.map { $0[0].text ?? "" } == fixture.segmentNames)
        let first = try fixture.records().map(\.store).min() ?? 0
        #expect(Int(first) == 600 - left + 1)
        let spans = try book(fixture)
        #expect(spans.allSatisfy { $0.reason == .records && $0.removedAt == 5 })
        #expect(spans.map(\.stores.lowerBound).min() == 1)
        #expect(spans.map(\.stores.upperBound).max() == UInt64(600 - left))
        #expect(outcome.byReason.map(\.records) == [UInt64(600 - left)])
        #expect(writer.nextStore == 601)
        // The next run finds nothing, and with the hot tier alone the numbers go on.
        #expect(try retention.run(now: 6).removed == [])
        rules.records = 1
        var strict = try Retention(directory: fixture.directory, rules: rules)
        _ = try strict.run(now: 7)
        #expect(fixture.segmentNames.isEmpty)
        #expect(try fixture.hotBatches() == 1)
        _ = try check(fixture, before, "strict")
        // What is removed within a day shares a row for each peer and kind.
        let names = Set(before.map { "\($0.instance.identifier) \($0.kind)" })
        #expect(try book(fixture).count <= names.count)
        _ = consume writer
        #expect(try fixture.writer().nextStore == 601)
    }

    @Test("a size is kept with everything in the folder counted, the ballast too")
    func size() throws {
        let (fixture, before) = try filled()
        let writer = try fixture.writer()
        var rules = RetentionRules()
        // More than the log and free pages take, which go first.
        rules.bytes = UInt64(SpoolSummary.fileBytes(fixture.directory)) / 2
        var retention = try Retention(directory: fixture.directory, rules: rules)
        var outcome = try retention.run(now: 5)
        #expect(outcome.byReason.map(\.reason) == [.size])
        // The first run has made the ballast, which counts from then on.
        #expect(Files.size(fixture.directory + "/ballast") == Int64(Limits.ballastBytes))
        rules.bytes = outcome.bytes
        retention = try Retention(directory: fixture.directory, rules: rules)
        outcome = try retention.run(now: 6)
        #expect(outcome.removed.isEmpty && outcome.bytes <= outcome.bytesMax)
        _ = try check(fixture, before, "size")
        _ = consume writer
    }

    @Test("free pages of hot.db go back to the file system")
    func shrink() throws {
        let fixture = try Fixture()
        var writer = try fixture.writer()
        var dice = Dice(state: 3)
        let text = (0..<200_000).map { _ in String(UInt64.random(in: 0 ... .max, using: &dice)) }
        for number in 1...40 {
            let payload = #"{"t":"\#(text.shuffled(using: &dice).joined())"}"#
            let one = record(UInt64(number), at: Int64(number), payload: payload)
            _ = try writer.commit(SpoolCommit(records: .init([one])))
        }
        let before = try pages(fixture)
        #expect(before > 4 * Int64(Limits.hotPagesFreeMax) / 3)
        var rules = RetentionRules()
        rules.records = 1
        var retention = try Retention(directory: fixture.directory, rules: rules)
        _ = try retention.run(now: 5)
        #expect(try pages(fixture) < before / 3)
        #expect(try fixture.records().count == 1)
    }

    private func pages(_ fixture: Fixture) throws -> Int64 {
        let database = try Database(path: fixture.directory + "/hot.db", mode: .read)
        return try database.integer("PRAGMA page_count") ?? 0
    }

    /// Ends the process at the given moment as `kill -9` does.
    private static func die(at step: RetentionStep, in directory: String) {
        do {
            let writer = try SpoolWriter(directory: directory, durability: .normal)
            var rules = RetentionRules()
            rules.records = 40
            var retention = try Retention(
                directory: directory,
                rules: rules,
                hook: { reached in
                    if reached == step { Signals.sendToSelf(9) }
                }
            )
            _ = try retention.run(now: 5)
            _ = consume writer
        } catch {
            StandardError.line("\(error)")
        }
    }

    @Test(
        "killed at any moment: what is gone is in the book, what is left is whole",
        arguments: RetentionStep.allCases.filter { $0 != .shrunk }
    )
    func killed(step: RetentionStep) async throws {
        let (fixture, before) = try filled()
        await #expect(processExitsWith: .signal(9)) {
            [directory = fixture.directory as String, step = step as RetentionStep] in
            Self.die(at: step, in: directory)
        }
        _ = try check(fixture, before, "read after \(step)")
        let writer = try fixture.writer()
        #expect(writer.nextStore == 601)
        #expect(try Compaction(directory: fixture.directory, limits: .all).strays.isEmpty)
        _ = try check(fixture, before, "tidied after \(step)")
        let listed = try fixture.sql("SELECT name FROM segments ORDER BY name")
        #expect(listed.map { $0[0].text ?? "" } == fixture.segmentNames)
        var rules = RetentionRules()
        rules.records = 40
        var retention = try Retention(directory: fixture.directory, rules: rules)
        _ = try retention.run(now: 6)
        #expect(try check(fixture, before, "again after \(step)") <= 40)
        _ = consume writer
    }
}
