import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// A backup is a whole spool of one moment, whatever happens meanwhile.
@Suite struct BackupTests {
    /// A spool with segments and a hot rest, and a folder for its backup.
    private func filled(_ count: Int = 300) throws -> (Fixture, TemporaryFolder) {
        let (fixture, _) = try Fixture.mixed(count, size: 30, seed: 9)
        try fixture.compact(
            CompactionLimits(hotBytes: 0, keptBytes: 12_000, segmentBytes: 12_000, smallBytes: 0)
        )
        #expect(!fixture.segmentNames.isEmpty)
        #expect(try fixture.hotBatches() > 0)
        return (fixture, try TemporaryFolder())
    }

    private func records(_ folder: String) throws -> [Record] {
        var reader = try SpoolReader(directory: folder)
        return try reader.records()
    }

    /// Copies a backup back as a user does, and opens it as the agent does.
    private func restored(_ folder: String) throws -> [Record] {
        let place = try TemporaryFolder()
        try Files.makeFolder(place.path + "/seg")
        for name in Files.names(in: folder) where name.hasPrefix("hot.db") {
            try Files.copy(folder + "/" + name, to: place.path + "/" + name)
        }
        for name in Files.names(in: folder + "/seg") {
            try Files.copy(folder + "/seg/" + name, to: place.path + "/seg/" + name)
        }
        #expect(try Verifier(directory: place.path).run().damages == [])
        do {
            var writer = try SpoolWriter(directory: place.path, durability: .normal)
            let more = record(1_000_000, at: 1)
            _ = try writer.commit(SpoolCommit(records: .init([more])))
            let log = try Database(path: place.path + "/hot.db", mode: .read)
            let mode = try log.prepare("PRAGMA journal_mode")
            #expect(try mode.step() && mode.text(0) == "wal")
        }
        #expect(try Compaction(directory: place.path).strays == [])
        return try records(place.path).filter { $0.envelope.sequence != 1_000_000 }
    }

    @Test("a backup holds every record, and a second one adds only what is new")
    func incremental() throws {
        let (fixture, place) = try filled()
        let folder = place.path + "/backup"
        let first = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        let before = try fixture.records()
        #expect(try records(folder) == before)
        #expect(first.records == 300 && first.linked == first.segments && first.copied == 0)
        #expect(try restored(folder) == before)

        let again = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(again.linked == 0 && again.copied == 0 && again.removed == 0)
        #expect(again.segments == first.segments)

        try fixture.store([(1...40).map { record(5_000 + UInt64($0), at: 1 << 60) }])
        try fixture.compact()
        let second = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(second.records == 340 && second.linked > 0)
        #expect(try restored(folder) == fixture.records())
        #expect(Files.names(in: folder + "/seg") == fixture.segmentNames)
    }

    @Test("segments that became part of another go when the new backup is whole")
    func joined() throws {
        let (fixture, place) = try filled()
        let folder = place.path + "/backup"
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        let expected = try fixture.records()
        var limits = CompactionLimits.all
        limits.smallBytes = 1 << 20
        try fixture.compact(limits)
        let made = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(made.removed > 0 && made.kept == 0)
        #expect(try restored(folder) == expected)
        #expect(Files.names(in: folder + "/seg") == fixture.segmentNames)
    }

    @Test("what the spool removes stays in the backup, unless it is to mirror the spool")
    func removedInTheSpool() throws {
        let (fixture, place) = try filled()
        let folder = place.path + "/backup"
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        let all = try fixture.records()
        let name = try #require(fixture.segmentNames.first)
        try fixture.alter("DELETE FROM segment WHERE name = '\(name)'")
        try Files.remove(fixture.directory + "/seg/" + name)
        let left = try fixture.records()
        #expect(left.count < all.count)
        for _ in 0..<2 {
            let made = try SpoolBackup(spool: fixture.directory, folder: folder).run()
            #expect(made.kept == 1 && made.removed == 0 && made.records == 300)
            #expect(try restored(folder) == all)
        }
        let made = try SpoolBackup(spool: fixture.directory, folder: folder, mirrors: true).run()
        #expect(made.kept == 0 && made.removed == 1)
        #expect(try restored(folder) == left)
    }

    @Test("a copy of a segment in the backup that was cut off is put right")
    func cutOff() throws {
        let (fixture, place) = try filled()
        let folder = place.path + "/backup"
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        let name = try #require(fixture.segmentNames.first)
        try Files.remove(folder + "/seg/" + name)
        try Files.write("half", to: folder + "/seg/" + name)
        let made = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(made.linked == 1)
        #expect(try restored(folder) == fixture.records())
    }

    @Test("a folder that is something else is refused, and nothing in it changed")
    func refused() throws {
        let (fixture, place) = try filled()
        try Files.write("mine", to: place.path + "/letter")
        func cause(_ folder: String) -> String {
            do {
                _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
                return ""
            } catch {
                return error.cause
            }
        }
        #expect(cause(place.path).contains("not empty"))
        #expect(Files.names(in: place.path) == ["letter"])
        #expect(cause(fixture.directory).contains("is in the spool itself"))
        #expect(cause(fixture.directory + "/x/y").contains("is in the spool itself"))
        let (other, _) = try Fixture.mixed(60, size: 30, seed: 3)
        let folder = place.path + "/backup"
        try other.alter("UPDATE peer_state SET epoch = epoch + 77")
        _ = try SpoolBackup(spool: other.directory, folder: folder).run()
        let kept = try records(folder)
        #expect(cause(folder).contains("another spool"))
        #expect(try records(folder) == kept)
        let used = try SpoolWriter(directory: folder, durability: .normal)
        #expect(cause(folder).contains("in use"))
        _ = consume used
    }

    @Test("beside a writer and a compaction every backup is the beginning of the history")
    func besideCompaction() throws {
        let (fixture, place) = try filled()
        let (directory, folder) = (fixture.directory, place.path + "/backup")
        let thread = try OwnedThread("writes") {
            do {
                var writer = try SpoolWriter(directory: directory, durability: .normal)
                var limits = CompactionLimits.all
                limits.segmentBytes = 4_000
                limits.smallBytes = 30_000
                for batch in 0..<60 {
                    let more = (1...20).map { record(5_000 + UInt64(batch * 20 + $0), at: 1 << 60) }
                    _ = try writer.commit(SpoolCommit(records: .init(more)))
                    if batch % 3 > 0 { continue }
                    var compaction = try Compaction(directory: directory, limits: limits)
                    _ = try compaction.step()
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        var taken: [[UInt64]] = []
        for _ in 0..<15 {
            _ = try SpoolBackup(spool: directory, folder: folder).run()
            #expect(try Verifier(directory: folder).run().damages == [])
            taken.append(try records(folder).map(\.store).sorted())
        }
        thread.join()
        for stores in taken { #expect(stores == Array(1...UInt64(stores.count))) }
        _ = try SpoolBackup(spool: directory, folder: folder).run()
        #expect(try restored(folder) == fixture.records())
    }

    /// Ends the process at the given moment as `kill -9` does.
    private static func die(at step: BackupStep, _ spool: String, _ folder: String) {
        let backup = SpoolBackup(
            spool: spool,
            folder: folder,
            mirrors: false,
            hook: { if $0 == step { Signals.sendToSelf(9) } }
        )
        do { _ = try backup.run() } catch { StandardError.line("\(error)") }
    }

    @Test(
        "killed at any moment of the first backup: the next one is whole",
        arguments: [
            BackupStep.folderMade, .marked, .cleaned, .hotCopied, .segmentBrought, .segmentAdded,
            .merged, .synced, .renamed, .folderSynced, .done,
        ]
    )
    func killedFirst(step: BackupStep) async throws {
        let (fixture, place) = try filled(150)
        let folder = place.path + "/backup"
        await #expect(processExitsWith: .signal(9)) {
            [
                step = step as BackupStep, spool = fixture.directory as String,
                folder = folder as String
            ] in
            Self.die(at: step, spool, folder)
        }
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(try restored(folder) == fixture.records())
        #expect(Files.names(in: folder + "/seg") == fixture.segmentNames)
        #expect(Files.names(in: folder) == ["backup", "hot.db", "lock", "seg"])
    }

    @Test(
        "killed at any moment of a later backup: the one before or the new one is whole",
        arguments: [
            BackupStep.cleaned, .hotCopied, .segmentBrought, .segmentAdded, .merged, .synced,
            .renamed,
            .folderSynced, .segmentRemoved, .done,
        ]
    )
    func killedLater(step: BackupStep) async throws {
        let (fixture, place) = try filled(150)
        let folder = place.path + "/backup"
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        let before = try fixture.records()
        try fixture.store([(1...40).map { record(5_000 + UInt64($0), at: 1 << 60) }])
        var limits = CompactionLimits.all
        limits.smallBytes = 1 << 20
        try fixture.compact(limits)
        let after = try fixture.records()
        await #expect(processExitsWith: .signal(9)) {
            [
                step = step as BackupStep, spool = fixture.directory as String,
                folder = folder as String
            ] in
            Self.die(at: step, spool, folder)
        }
        let isNew: Set<BackupStep> = [.renamed, .folderSynced, .segmentRemoved, .done]
        #expect(try records(folder) == (isNew.contains(step) ? after : before))
        #expect(try Verifier(directory: folder).run().damages == [])
        _ = try SpoolBackup(spool: fixture.directory, folder: folder).run()
        #expect(try restored(folder) == after)
    }
}
