import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// What a spool takes, by peer and kind.
@Suite struct UsageTests {
    @Test("shares add up to the records, the payloads and the files")
    func sums() throws {
        let (fixture, records) = try VerifyTests.filled()
        var reader = try SpoolReader(directory: fixture.directory)
        let usage = try reader.usage()
        #expect(usage.report.isWhole)
        let raw = records.reduce(UInt64(0)) { $0 + UInt64($1.payload.count) }
        #expect(usage.all.records == UInt64(records.count))
        #expect(usage.all.rawBytes == raw)
        #expect(usage.all.coldBytes == usage.sizes.segments)
        let hot = try fixture.sql("SELECT sum(packed) FROM batches WHERE segment IS NULL")
        #expect(usage.all.hotBytes == UInt64(hot[0][0].integer ?? 0))
        for (peer, share) in usage.peers {
            let own = records.filter { $0.instance.identifier == peer }
            #expect(share.records == UInt64(own.count), "\(peer)")
        }
        for (kind, share) in usage.kinds {
            let own = records.filter { $0.kind == kind }
            #expect(share.records == UInt64(own.count), "\(kind)")
            #expect(share.bytes > 0)
        }
        #expect(usage.peers.count == Set(records.map(\.instance.identifier)).count)
        #expect(usage.kinds.count == Set(records.map(\.kind)).count)
        #expect(reader.openedBatches == 0)
    }

    @Test("every file of the folder is counted once, and what is nobody's is told apart")
    func files() throws {
        let (fixture, _) = try VerifyTests.filled()
        try Files.write(String(repeating: "x", count: 1234), to: fixture.directory + "/ballast")
        try Files.makeFolder(fixture.directory + "/aside")
        try Files.write(String(repeating: "x", count: 100), to: fixture.directory + "/aside/old")
        var reader = try SpoolReader(directory: fixture.directory)
        let sizes = try reader.usage().sizes
        #expect(sizes.total == Files.treeSize(fixture.directory))
        let lock = UInt64(Files.size(fixture.directory + "/lock"))
        #expect(sizes.other == 1334 + lock)
    }

    @Test("a segment that cannot be read is told from the list, and named")
    func unreadable() throws {
        let (fixture, records) = try VerifyTests.filled()
        let name = try #require(fixture.segmentNames.first)
        try Files.remove(fixture.directory + "/seg/" + name)
        var reader = try SpoolReader(directory: fixture.directory)
        let usage = try reader.usage()
        #expect(usage.all.records == UInt64(records.count))
        #expect(usage.report.damagedBatches.count == 1)
        #expect(usage.report.damagedBatches[0].hasPrefix("segment \(name): "))
    }

    @Test("a number is cut into parts whose sum it is")
    func proportion() {
        var dice = Dice(state: 5)
        for _ in 0..<200 {
            let parts = (0..<Int.random(in: 1...9, using: &dice)).map { _ in
                UInt64.random(in: 0...1_000, using: &dice)
            }
            let total = UInt64.random(in: 0...(1 << 62), using: &dice)
            var cut = Proportion(total, parts: parts.reduce(0, +))
            let shares = parts.map { cut.next($0) }
            #expect(shares.reduce(0, +) == (parts.reduce(0, +) == 0 ? 0 : total))
            for (part, share) in zip(parts, shares) where part == 0 { #expect(share == 0) }
        }
    }
}
