import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// A process that is killed at any moment of a rewriting, and one that comes after it.
@Suite struct RewritingCrashTests {
    private static let rules = RetentionRules([
        KeepRule("quick", "odd", records: 40), KeepRule("slow", least: 30),
    ])

    /// Ends the process at the given moment of the second rewriting as `kill -9` does.
    private static func die(at step: CompactionStep, in directory: String) {
        do {
            let writer = try SpoolWriter(directory: directory, durability: .normal)
            var met = 0
            var retention = try Retention(
                directory: directory,
                rules: rules,
                limits: .small,
                rewriteHook: { reached in
                    if reached == step { met += 1 }
                    if met == 2 { Signals.sendToSelf(9) }
                }
            )
            _ = try retention.run(now: 5)
            _ = consume writer
        } catch {
            StandardError.line("\(error)")
        }
    }

    private func check(_ fixture: Fixture, _ before: [Record], _ at: String) throws -> [Record] {
        let after = try fixture.records()
        let left = Set(after.map(\.store))
        #expect(before.filter { left.contains($0.store) } == after, "\(at)")
        #expect(try fixture.removed() == Fixture.gone(before, after), "\(at)")
        return after
    }

    @Test(
        "killed at any moment of a rewriting: stored is what is left and what the book says",
        arguments: CompactionStep.allCases
    )
    func killed(step: CompactionStep) async throws {
        let fixture = try Fixture()
        try fixture.storeTurns(1...900)
        try fixture.compact(.small)
        let before = try fixture.records()
        await #expect(processExitsWith: .signal(9)) {
            [directory = fixture.directory as String, step = step as CompactionStep] in
            Self.die(at: step, in: directory)
        }
        let found = try check(fixture, before, "read after \(step)")
        #expect(found.count < before.count)
        let writer = try fixture.writer()
        #expect(writer.nextStore == 901)
        #expect(try Compaction(directory: fixture.directory, limits: .small).strays.isEmpty)
        _ = try check(fixture, before, "tidied after \(step)")
        let listed = try fixture.sql("SELECT name FROM segments ORDER BY name")
        #expect(listed.map { $0[0].text ?? "" } == fixture.segmentNames)
        _ = consume writer
        _ = try Retention.byHand(
            directory: fixture.directory,
            rules: Self.rules,
            now: 6,
            limits: .small
        )
        let left = try check(fixture, before, "again after \(step)")
        let odd = left.filter { $0.instance.identifier == "quick" && $0.kind == "odd" }
        // A few that lie in a hot batch may stay, up to an eighth.
        #expect((40...45).contains(odd.count))
        try fixture.verify()
    }
}
