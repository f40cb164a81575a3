import Basics
import LinuxIO
import SQLite
import Telemetry
import TestKit
import Testing

@testable import Spool

/// What can be read of a damaged spool is saved as it was, and what is lost is counted.
@Suite struct SalvageTests {
    /// Some segments and a hot tier of several pages.
    private func filled() throws -> (Fixture, [Record], TemporaryFolder) {
        let (fixture, _) = try Fixture.mixed(900, size: 30, seed: 41)
        let records = try fixture.records()
        try fixture.compact(
            CompactionLimits(
                hotBytes: 60_000,
                keptBytes: 40_000,
                segmentBytes: 40_000,
                smallBytes: 0
            )
        )
        #expect(fixture.segmentNames.count > 1)
        #expect(try fixture.hotBatches() > 3)
        return (fixture, records, try TemporaryFolder())
    }

    @Test("the book of removals is saved too")
    func removals() throws {
        let (fixture, _, place) = try filled()
        var rules = RetentionRules()
        rules.records = 700
        try fixture.retain(rules, now: 5)
        let book = try SpoolReader(directory: fixture.directory).removed()
        #expect(book.count > 10)
        let outcome = try salvage(fixture, place.file("new"))
        #expect(outcome.isWhole)
        #expect(try SpoolReader(directory: place.file("new")).removed() == book)
    }

    private func records(_ folder: String) throws -> [Record] {
        #expect(try Verifier(directory: folder).run().damages == [])
        var reader = try SpoolReader(directory: folder)
        return try reader.records()
    }

    private func salvage(_ fixture: Fixture, _ folder: String) throws -> Salvage.Outcome {
        let before = try bytes(fixture.directory)
        let outcome = try Salvage(spool: fixture.directory, folder: folder).run()
        #expect(try bytes(fixture.directory) == before, "the damaged spool was changed")
        #expect(!Files.exists(folder + "/work.part"))
        return outcome
    }

    /// Every file below a folder, with its bytes.
    private func bytes(_ folder: String) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in Files.names(in: folder) {
            let path = folder + "/" + name
            if name == "seg" {
                for (key, value) in try bytes(path) { found["seg/" + key] = value }
            } else {
                found[name] = try Files.contents(path)
            }
        }
        return found
    }

    private func overwrite(_ path: String, _ ranges: [Range<Int>], _ byte: UInt8 = 0) throws {
        var all = try Files.contents(path)
        for range in ranges {
            for place in range where place < all.count { all[place] = byte }
        }
        let file = try Files.create(path)
        try Descriptor.write(file.raw, all)
    }

    @Test("pages are as long as the file says", arguments: [512, 4096, 16_384, 65_536])
    func pageSizes(size: Int) throws {
        let place = try TemporaryFolder()
        let path = place.path + "/pages.db"
        let database = try Database(path: path, mode: .create)
        try database.execute("PRAGMA page_size=\(size)")
        try database.execute("CREATE TABLE t(x)")
        _ = consume database
        #expect(try PageFile(path, standard: 8192).pageSize == size)
    }

    @Test("a sound spool is saved whole, with its numbers, and goes on")
    func sound() throws {
        let (fixture, expected, place) = try filled()
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.isWhole && outcome.records == UInt64(expected.count))
        #expect(outcome.mendedSegments == 0)
        #expect(try records(folder) == expected)
        let last = try fixture.writer().nextStore
        var writer = try SpoolWriter(directory: folder, durability: .normal)
        #expect(writer.nextStore == last)
        _ = try writer.commit(SpoolCommit(records: .init([record(77_000, at: 1)])))
        _ = consume writer
        #expect(try records(folder).count == expected.count + 1)
    }

    @Test("what is still in the log is saved too")
    func log() throws {
        let (fixture, expected, place) = try filled()
        let copy = place.path + "/copy"
        try Files.makeFolder(copy + "/seg")
        do {
            var writer = try fixture.writer()
            let more = (1...40).map { record(5_000 + UInt64($0), at: 1 << 60) }
            _ = try writer.commit(SpoolCommit(records: .init(more)))
            for name in Files.names(in: fixture.directory) where name.hasPrefix("hot.db") {
                try Files.copy(fixture.directory + "/" + name, to: copy + "/" + name)
            }
            for name in fixture.segmentNames {
                try Files.copy(fixture.directory + "/seg/" + name, to: copy + "/seg/" + name)
            }
        }
        #expect(Files.size(copy + "/hot.db-wal") > 0)
        // By the tree, and by pages alone.
        for isHeadless in [false, true] {
            if isHeadless { try overwrite(copy + "/hot.db-wal", [32 + 24..<32 + 24 + 100]) }
            let folder = place.path + "/new\(isHeadless)"
            let outcome = try Salvage(spool: copy, folder: folder).run()
            #expect(outcome.records >= UInt64(expected.count))
            if !isHeadless { #expect(outcome.records == UInt64(expected.count + 40)) }
            _ = try records(folder)
        }
    }

    @Test("zeroed pages cost what was in them, and no more", arguments: 1...10)
    func zeroedPages(seed: UInt64) throws {
        let (fixture, expected, place) = try filled()
        var dice = Dice(state: seed &* 7919)
        let path = fixture.directory + "/hot.db"
        let pages = Int(Files.size(path)) / 8192
        let zeroed = (0..<Int.random(in: 1...3, using: &dice)).map { _ in
            Int.random(in: 1..<pages, using: &dice)
        }
        try overwrite(path, zeroed.map { $0 * 8192..<($0 + 1) * 8192 })
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        let saved = try records(folder)
        #expect(outcome.records == UInt64(saved.count))
        check(saved, expected, outcome)
        // Whatever is lost is told of, in records where that is known.
        let lost = UInt64(expected.count - saved.count)
        #expect(lost == outcome.lostRecords || lost > 0 && outcome.lostBatches > 0)
        // Segments are in files of their own.
        let segments = outcome.wholeSegments + outcome.mendedSegments
        #expect(segments == UInt64(fixture.segmentNames.count))
    }

    /// Every record that was saved is one that there was, once; names may be lost.
    private func check(_ saved: [Record], _ expected: [Record], _ outcome: Salvage.Outcome) {
        let byStore = Dictionary(uniqueKeysWithValues: expected.map { ($0.store, $0) })
        #expect(Set(saved.map(\.store)).count == saved.count)
        for one in saved {
            guard let known = byStore[one.store] else {
                Issue.record("no such record \(one.store)")
                continue
            }
            #expect(one.payload == known.payload && one.envelope == known.envelope)
            if outcome.lostNames == 0 {
                #expect(one.instance == known.instance && one.kind == known.kind)
            }
        }
    }

    @Test("trap 9: without its first page hot.db is read page by page, and nothing is lost")
    func firstPage() throws {
        let (fixture, expected, place) = try filled()
        try overwrite(fixture.directory + "/hot.db", [0..<8192])
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.losses == [] && outcome.lostNames == 0)
        #expect(try records(folder) == expected)
    }

    @Test("without the heads of its pages the rows in them are found by their look")
    func pageHeads() throws {
        let (fixture, expected, place) = try filled()
        let path = fixture.directory + "/hot.db"
        let pages = Int(Files.size(path)) / 8192
        // The type of a page: whatever had 13, a leaf of a table, has another.
        let all = try Files.contents(path)
        let heads = (0..<pages).map { $0 == 0 ? 100 : $0 * 8192 }.filter { all[$0] == 13 }
        try overwrite(path, heads.map { $0..<$0 + 1 }, 0xff)
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.losses == [] && outcome.lostNames == 0)
        #expect(try records(folder) == expected)
    }

    @Test("without hot.db the segments are saved, with their names and new books")
    func noHot() throws {
        let (fixture, _, place) = try filled()
        try fixture.compact()
        let expected = try fixture.records()
        try Files.remove(fixture.directory + "/hot.db")
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.isWhole)
        #expect(try records(folder) == expected)
        var reader = try SpoolReader(directory: folder)
        for books in try reader.peers() {
            let own = expected.filter { $0.instance == books.instance }.map(\.envelope.sequence)
            #expect(books.stored == UInt64(own.count))
            #expect(own.allSatisfy { books.accounted.contains($0) })
        }
        _ = try reader.forEach(Query()) { _ in true }
        // No number of a batch is given twice.
        let writer = try SpoolWriter(directory: folder, durability: .normal)
        _ = consume writer
        try store(folder)
        #expect(try records(folder).count == expected.count + 1)
    }

    private func store(_ folder: String) throws {
        var writer = try SpoolWriter(directory: folder, durability: .normal)
        _ = try writer.commit(SpoolCommit(records: .init([record(77_000, at: 1)])))
    }

    @Test("a flipped bit in a hot batch costs that batch, and its records are counted")
    func flippedHot() throws {
        let (fixture, expected, target) = try filled()
        let id = try #require(try fixture.sql("SELECT max(id) FROM batches")[0][0].integer)
        // In place, and in what free pages have of it: there it would be found.
        let path = fixture.directory + "/hot.db"
        try overwrite(path, try heads(of: id, path).map { $0 + 60..<$0 + 61 }, 0xa5)
        let folder = target.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.lostRecords == 30 && outcome.lostBatches == 0)
        #expect(outcome.losses == ["batch \(id): checksum differs"])
        let saved = try records(folder)
        #expect(saved.count == expected.count - 30)
        check(saved, expected, outcome)
    }

    /// Wherever a batch's blob begins in the file.
    private func heads(of id: Int64, _ path: String) throws -> [Int] {
        let database = try Database(path: path, mode: .read)
        let find = try database.prepare("SELECT data FROM batch WHERE id = \(id)")
        #expect(try find.step())
        let head = Array(find.blob(0).prefix(20))
        let bytes = try Files.contents(path)
        return (0..<bytes.count - 20).filter { start in
            bytes[start] == head[0] && bytes[start..<start + 20].elementsEqual(head)
        }
    }

    @Test("flipped bits in a segment cost what they hit", arguments: 1...12)
    func flippedCold(seed: UInt64) throws {
        let (fixture, expected, place) = try filled()
        var dice = Dice(state: seed &* 104_729)
        let name = try #require(fixture.segmentNames.randomElement(using: &dice))
        let path = fixture.directory + "/seg/" + name
        var bytes = try Files.contents(path)
        for _ in 0..<Int.random(in: 1...6, using: &dice) {
            let bit = UInt8(1) << UInt8.random(in: 0...7, using: &dice)
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] ^= bit
        }
        do {
            let file = try Files.create(path)
            try Descriptor.write(file.raw, bytes)
        }
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        let saved = try records(folder)
        check(saved, expected, outcome)
        #expect(UInt64(expected.count - saved.count) == outcome.lostRecords)
    }

    @Test("a segment without its first page is mended from its pages")
    func segmentFirstPage() throws {
        let (fixture, expected, place) = try filled()
        let name = try #require(fixture.segmentNames.first)
        try overwrite(fixture.directory + "/seg/" + name, [0..<1024])
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        #expect(outcome.mendedSegments == 1 && outcome.losses == [])
        #expect(try records(folder) == expected)
    }

    @Test("random damage anywhere never crashes, and nothing is made up", arguments: 1...20)
    func random(seed: UInt64) throws {
        let (fixture, expected, place) = try filled()
        var dice = Dice(state: seed &* 31_337)
        var paths = fixture.segmentNames.map { fixture.directory + "/seg/" + $0 }
        paths.append(fixture.directory + "/hot.db")
        for path in paths where Bool.random(using: &dice) {
            let size = Int(Files.size(path))
            var ranges: [Range<Int>] = []
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                let start = Int.random(in: 0..<size, using: &dice)
                ranges.append(start..<start + Int.random(in: 1...3_000, using: &dice))
            }
            try overwrite(path, ranges, UInt8.random(in: 0...255, using: &dice))
        }
        let folder = place.path + "/new"
        let outcome = try salvage(fixture, folder)
        var reader = try SpoolReader(directory: folder)
        check(try reader.records(), expected, outcome)
    }

    @Test("a spool in use, none at all, or a folder that is not empty is refused")
    func refused() throws {
        let (fixture, _, place) = try filled()
        try Files.write("mine", to: place.path + "/letter")
        func cause(_ spool: String, _ folder: String) -> String {
            do {
                _ = try Salvage(spool: spool, folder: folder).run()
                return ""
            } catch {
                return error.cause
            }
        }
        #expect(cause(fixture.directory, place.path).contains("not empty"))
        #expect(cause(place.path, place.path + "/new").contains("neither hot.db nor"))
        #expect(cause(fixture.directory, fixture.directory + "/new").contains("is in it"))
        let writer = try fixture.writer()
        #expect(cause(fixture.directory, place.path + "/new") == "a writer has it")
        _ = consume writer
        #expect(Files.names(in: place.path) == ["letter"])
    }
}
