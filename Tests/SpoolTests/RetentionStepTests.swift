import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// Retention beside others: commits, a removal by hand, a clock that leaps.
@Suite struct RetentionStepTests {
    private static let day: UInt64 = 86_400_000_000_000

    /// 25 MB in a hot tier of small batches and in segments, of which two thirds are left packed.
    private func large() throws -> Fixture {
        let fixture = try Fixture()
        var writer = try fixture.writer()
        var dice = Dice(state: 5)
        var number: UInt64 = 0
        for _ in 0..<400 {
            let records = (0..<10).map { _ in
                number += 1
                let text = (0..<500).map { _ in
                    String(UInt64.random(in: 0 ... .max, using: &dice), radix: 36)
                }
                let payload = #"{"t":"\#(text.joined())"}"#
                return record(number, at: Int64(number), peer: "p\(number % 3)", payload: payload)
            }
            _ = try writer.commit(SpoolCommit(records: .init(records)))
            if number == 2000 {
                try fixture.compact(
                    CompactionLimits(
                        hotBytes: 0,
                        keptBytes: 0,
                        segmentBytes: 3 << 20,
                        smallBytes: 0
                    )
                )
            }
        }
        return fixture
    }

    @Test("cases 12 and 13: the spool falls below its size in small steps, with commits in between")
    func steps() throws {
        let fixture = try large()
        var writer = try fixture.writer()
        let before = RetentionView.bytes(fixture.directory)
        #expect(before > 12 << 20)
        // The ballast is made at the end, and counts.
        let most = 3 << 20 + UInt64(Limits.ballastBytes)
        var steps: [RetentionStep: Int] = [:]
        var commits: UInt64 = 0
        var largest = before
        var retention = try Retention(
            directory: fixture.directory,
            rules: RetentionRules(bytes: 3 << 20, []),
            hook: { step in
                steps[step, default: 0] += 1
                largest = max(largest, RetentionView.bytes(fixture.directory))
                guard [.committed, .unlinked, .shrunk].contains(step) else { return }
                // No transaction is open: a commit does not have to wait.
                commits += 1
                let one = record(10_000 + commits, at: Int64(commits))
                do {
                    _ = try writer.commit(SpoolCommit(records: .init([one])))
                } catch {
                    Issue.record("\(error)")
                }
            }
        )
        _ = try retention.run(now: 5)
        // Each segment by itself, hot batches some at a time, and the free pages in slices.
        #expect((steps[.unlinked] ?? 0) > 3 && (steps[.shrunk] ?? 0) > 1)
        #expect((steps[.batchesDeleted] ?? 0) >= 200 / Limits.removedAtOnce)
        #expect(try fixture.records().filter { $0.envelope.sequence > 10_000 }.count == commits)
        let database = try Database(path: fixture.directory + "/hot.db", mode: .write)
        // A connection learns of the log when it first reads.
        _ = try database.integer("PRAGMA page_count")
        let isBusy = try database.checkpoint(.truncate).isBusy
        #expect(!isBusy)
        let after = RetentionView.bytes(fixture.directory)
        let sizes = [fixture.directory, fixture.directory + "/seg"].flatMap { folder in
            Files.names(in: folder).map { "\($0) \(Files.size(folder + "/" + $0))" }
        }
        #expect(after <= most, "\(before) \(after): \(sizes)")
        // What is written on the way is a small part of what is there.
        #expect(largest < before + (8 << 20), "\(largest) of \(before)")
    }

    @Test("who removes by hand waits for who works on segments, and says so when it takes too long")
    func lock() throws {
        let fixture = try Fixture()
        try fixture.storeTurns(1...90)
        let rules = RetentionRules(records: 30, [])
        guard let held = try SegmentLock.tryTake(fixture.directory) else {
            Issue.record("somebody has the lock")
            return
        }
        let isFree = try SegmentLock.tryTake(fixture.directory) != nil
        #expect(!isFree)
        let error = #expect(throws: SpoolError.self) {
            _ = try Retention.byHand(
                directory: fixture.directory,
                rules: rules,
                now: 5,
                patience: 1_000_000
            )
        }
        #expect(error?.kind == .locked(pid: nil))
        _ = consume held
        let outcome = try Retention.byHand(directory: fixture.directory, rules: rules, now: 5)
        #expect(outcome.byReason.map(\.records) == [60])
    }

    @Test("the agent's thread keeps away while somebody removes by hand, and sees what has changed")
    func agentWaits() throws {
        let fixture = try Fixture()
        let writer = try fixture.writer()
        guard let held = try SegmentLock.tryTake(fixture.directory) else {
            Issue.record("somebody has the lock")
            return
        }
        let compactor = try Compactor(directory: fixture.directory, limits: .all)
        defer { compactor.stop() }
        #expect(compactor.figures.bytesMax == 0)
        // It has not looked, since it may not.
        compactor.nudge(bytes: 1, records: 1)
        #expect(compactor.figures.bytesMax == 0 && compactor.figures.retentionFailure == nil)
        _ = consume held
        #expect(eventually { compactor.figures.bytesMax > 0 })
        _ = consume writer
    }

    @Test("a wall clock that leaps to 2030 removes nothing, and it is told")
    func leap() throws {
        let fixture = try Fixture()
        let rules = RetentionRules(age: 7 * Self.day, [])
        let start: Int64 = 1_796_000_000_000_000_000
        try fixture.storeTurns(1...60)
        func run(_ clock: AgeClock, wall: Int64) throws -> Retention.Outcome {
            var retention = try Retention(directory: fixture.directory, rules: rules)
            return try retention.run(now: wall, clock: clock, isFull: false)
        }
        var clock = AgeClock(nil, wall: start, boot: 0)
        _ = try run(clock, wall: start)
        let years = 4 * 365 * Int64(Self.day)
        _ = clock.now(wall: start + years, boot: 60_000_000_000)
        var outcome = try run(clock, wall: start + years)
        #expect(outcome.removed.isEmpty)
        #expect(outcome.warnings.last?.contains("35039 h ahead") == true)
        // A new process goes on from what the spool knows.
        var retention = try Retention(directory: fixture.directory, rules: rules)
        let state = try #require(try retention.clockState())
        clock = AgeClock(state, wall: start + years, boot: 5)
        outcome = try retention.run(now: start + years, clock: clock, isFull: false)
        #expect(outcome.removed.isEmpty && clock.disbelieved > 0)
        // A removal by hand beside an agent believes it no more than that one.
        #expect(
            try Retention.preview(
                directory: fixture.directory,
                rules: rules,
                now: start + years,
                isBesideAgent: true
            ).removed.isEmpty
        )
        // Where it has said so for long enough it is believed.
        _ = clock.now(wall: start + years, boot: 2 * Self.day)
        outcome = try run(clock, wall: start + years)
        #expect(outcome.byReason.map(\.records) == [30])
    }

    @Test("the book of removals is added up when it is long, and nothing of it is lost")
    func fold() throws {
        let fixture = try Fixture()
        _ = try fixture.writer()
        let database = try Database(path: fixture.directory + "/hot.db", mode: .write)
        let spans = (0..<100).map { number in
            var span = RemovedSpan()
            (span.peer, span.kind) = ("p\(number % 3)", "k")
            (span.records, span.bytes) = (UInt64(number + 1), 10)
            (span.since, span.removedAt) = (Int64(number) * Int64(Self.day), 1)
            span.removedAt = span.since
            span.stores = UInt64(number)...UInt64(number + 1)
            return span
        }
        try RemovalBook.note(spans, database)
        try RemovalBook.fold(beyond: 100, database)
        #expect(try RemovalBook.all(database).count == 100)
        for most in [99, 40, 20] { try RemovalBook.fold(beyond: most, database) }
        let book = try RemovalBook.all(database)
        #expect(book.count < 40)
        #expect(book.reduce(0) { $0 + $1.records } == 5050)
        for peer in ["p0", "p1", "p2"] {
            let own = spans.filter { $0.peer == peer }
            let found = book.filter { $0.peer == peer }
            #expect(found.reduce(0) { $0 + $1.records } == own.reduce(0) { $0 + $1.records })
            #expect(
                found[0].since == own[0].since
                    && found[0].stores.lowerBound == own[0].stores.lowerBound
            )
        }
    }

    @Test("marks of ages are few, and tell ages to a hundredth")
    func marks() throws {
        let fixture = try Fixture()
        _ = try fixture.writer()
        let database = try Database(path: fixture.directory + "/hot.db", mode: .write)
        // One every half minute for a hundred days; thinned out now and then.
        let step: Int64 = 30_000_000_000
        try database.execute("BEGIN")
        let add = try database.prepare("INSERT INTO mark VALUES(?,?)")
        for number in 1...288_000 as ClosedRange<Int64> {
            try add.bind(1, number * 10)
            try add.bind(2, number * step)
            try add.run()
        }
        try database.execute("COMMIT")
        let now: Int64 = 288_000 * step
        try AgeBook.thin(before: 0, now: now, database)
        #expect(try database.integer("SELECT count(*) FROM mark") ?? 0 < 3000)
        for age in [step, 100 * step, 2880 * step, 100_000 * step] {
            let floor = Int64(try AgeBook.floor(now - age, database)) / 10 * step
            #expect(floor <= now - age && floor >= now - age - age / 64 - step, "\(age)")
        }
        // Of marks before the oldest record one is left.
        try AgeBook.thin(before: 1_440_000, now: now, database)
        #expect(try database.integer("SELECT count(*) FROM mark WHERE store < 1440000") ?? 9 <= 2)
    }
}
