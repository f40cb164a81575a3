import InternalNotification
import LinuxIO
import Spool
import Telemetry
import TestKit
import Testing

@testable import Agent

/// The cold tier is made while peers send.
@Suite struct CompactionTests {
    @Test("segments are made while two peers send: every record is there once, the books are exact")
    func whileSending() throws {
        let limits = CompactionLimits(
            hotBytes: 400_000,
            keptBytes: 50_000,
            segmentBytes: 300_000,
            smallBytes: 100_000
        )
        let bench = try Bench(compaction: limits)
        let directory = bench.folder.file("spool")
        let centers = [bench.center("one"), bench.center("two")]
        let count = 6_000
        let text = String(repeating: "payload ", count: 12)
        var sent = 0
        while sent < count {
            for center in centers {
                center.messenger.send(
                    (sent..<sent + 200).map { index in
                        INMessage(kind: "k\(index % 3)", payload: .string("\(text)\(index)"))
                    }
                )
            }
            sent += 200
            _ = bench.collector.turn()
        }
        #expect(bench.turn { centers.allSatisfy { $0.messenger.statistics.waiting == 0 } })
        for center in centers { center.stop() }
        #expect(bench.turn { bench.collector.peerCount == 0 })
        // It has the lowest priority: a machine that is busy makes it wait.
        #expect(eventually { bench.spool.figures.compaction.segments > 1 })
        #expect(bench.spool.figures.compaction.failure == nil)
        bench.finish()

        var reader = try SpoolReader(directory: directory)
        let summary = try reader.summary()
        #expect(summary.segments > 0 && summary.coldRecords > 0)
        var seen: [String: [UInt64]] = [:]
        var stores: [UInt64] = []
        let report = try reader.forEach(Query(peers: [Glob("one"), Glob("two")])) { view in
            let sequence = view.envelope.sequence
            seen[view.instance.identifier, default: []].append(sequence)
            return true
        }
        #expect(report.isWhole)
        _ = try reader.follow(after: 0, Query()) { view in
            stores.append(view.store)
            return true
        }
        #expect(stores == Array(1...summary.lastStore))
        for name in ["one", "two"] {
            let books = try #require(try bench.books(name).first)
            #expect(books.missing == 0 && books.holes.isEmpty && books.dropped == 0)
            #expect(books.stored == UInt64(count) && books.sent == UInt64(count))
            #expect(seen[name] == Array(1...UInt64(count)))
        }
    }
}
