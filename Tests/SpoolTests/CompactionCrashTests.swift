import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// A process that is killed at any moment of a compaction, and one that comes after it.
@Suite struct CompactionCrashTests {
    /// Ends the process at the given moment as `kill -9` does.
    private static func die(at step: CompactionStep, in directory: String, joining: Bool) {
        do {
            let writer = try SpoolWriter(directory: directory, durability: .normal)
            var limits = CompactionLimits.all
            if joining { limits.smallBytes = 1 << 20 }
            var compaction = try Compaction(
                directory: directory,
                limits: limits,
                hook: { reached in
                    if reached == step { Signals.sendToSelf(9) }
                }
            )
            while try compaction.step() != nil {}
            _ = consume writer
        } catch {
            StandardError.line("\(error)")
        }
    }

    /// Records and books before; the same must be there after.
    private func filled() throws -> (Fixture, [Record]) {
        let (fixture, _) = try Fixture.mixed(300, size: 30, seed: 9)
        return (fixture, try fixture.records())
    }

    private func check(_ fixture: Fixture, _ expected: [Record], _ step: CompactionStep) throws {
        // Before anything is put right, and after.
        #expect(try fixture.records() == expected, "read after \(step)")
        let writer = try fixture.writer()
        #expect(writer.nextStore == 301)
        _ = consume writer
        let strays = try Compaction(directory: fixture.directory, limits: .all).strays
        #expect(strays.isEmpty)
        #expect(try fixture.records() == expected, "tidied after \(step)")
        let listed = try fixture.sql("SELECT name FROM segments ORDER BY name")
        #expect(listed.map { $0[0].text ?? "" } == fixture.segmentNames)
        try fixture.compact()
        #expect(try fixture.hotBatches() == 0)
        #expect(try fixture.records() == expected, "compacted after \(step)")
        let names = Set(try fixture.sql("SELECT name FROM segments").map { $0[0].text ?? "" })
        #expect(names == Set(fixture.segmentNames))
    }

    @Test(
        "trap 7: killed at any moment: every record is there once, and nothing is left over",
        arguments: CompactionStep.allCases.filter { $0 != .unlinked }
    )
    func killed(step: CompactionStep) async throws {
        let (fixture, expected) = try filled()
        await #expect(processExitsWith: .signal(9)) {
            [directory = fixture.directory as String, step = step as CompactionStep] in
            Self.die(at: step, in: directory, joining: false)
        }
        try check(fixture, expected, step)
    }

    @Test(
        "killed while a small segment is joined with what comes after it",
        arguments: CompactionStep.allCases
    )
    func killedJoining(step: CompactionStep) async throws {
        let (fixture, expected) = try filled()
        try fixture.compact(
            CompactionLimits(hotBytes: 0, keptBytes: 12_000, segmentBytes: 12_000, smallBytes: 0)
        )
        #expect(try fixture.hotBatches() > 0)
        await #expect(processExitsWith: .signal(9)) {
            [directory = fixture.directory as String, step = step as CompactionStep] in
            Self.die(at: step, in: directory, joining: true)
        }
        try check(fixture, expected, step)
    }

    @Test("a file that is nobody's is left alone and named")
    func stray() throws {
        let (fixture, expected) = try filled()
        let made = try fixture.compact()
        let name = try #require(made.first?.name)
        let path = fixture.directory + "/seg/"
        let bytes = try Files.contents(path + name)
        let copy = try Files.create(path + "1-2-999.db")
        try Descriptor.write(copy.raw, bytes)
        try Files.write("no segment", to: path + "x.db")
        let strays = try Compaction(directory: fixture.directory).strays
        #expect(strays == ["1-2-999.db", "x.db"])
        #expect(Files.exists(path + "1-2-999.db"))
        #expect(try fixture.records() == expected)
    }
}
