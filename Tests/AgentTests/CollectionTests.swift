import InternalNotification
import LinuxIO
import NotifyClient
import NotifyProtocol
import Telemetry
import TestKit
import Testing

@testable import Agent

/// Senders and a collector that meet late, again, or after the sender's queue ran over.
@Suite struct CollectionTests {
    @Test("a queue that ran over before the agent came: the rest is stored, the books say what not")
    func overflowed() throws {
        let bench = try Bench()
        let center = bench.center("early")
        let count = UInt64(Limits.queueMessagesMax) + 500
        for _ in 0..<count { center.messenger.send([INMessage(kind: "k", payload: 1)]) }
        let messenger = center.messenger
        #expect(bench.turn { messenger.statistics.waiting == 0 })
        let said = messenger.statistics
        #expect(said.sent == said.stored + said.dropped)
        center.stop()
        #expect(bench.turn { bench.collector.peerCount == 0 })
        bench.finish()
        let books = try #require(try bench.books("early").first)
        #expect(books.sent == count && books.missing == 0 && books.holes.isEmpty)
        #expect(books.stored == (try UInt64(bench.count(kind: "k"))))
        #expect(books.stored + books.dropped == count && books.dropped <= said.dropped)
    }

    @Test("deliver tells of a message that had to be dropped, and its neighbours are stored")
    func dropped() async throws {
        let bench = try Bench()
        let center = bench.center("large")
        // It packs to just below the ring alone, and above it with the neighbours' braces.
        var messages = (0..<20).map { INMessage(kind: "k", payload: .number("\($0)")) }
        messages.append(INMessage(kind: "k", payload: 1, id: String(repeating: "i", count: 300)))
        #expect(throws: INError.self) { try center.messenger.sendWaiting(messages[20], timeout: 1) }
        messages.removeLast()
        center.messenger.send(messages)
        #expect(bench.turn { center.messenger.statistics.stored == 20 })
        #expect(center.messenger.statistics.refused == 1)
        center.stop()
        bench.finish()
    }

    @Test("payloads that are no JSON are refused, and nobody else's messages with them")
    func notJSON() throws {
        let bench = try Bench()
        let center = bench.center("sloppy")
        var bad = INMessage(kind: "k", payload: 1)
        bad.payloadText = Array("{\"a\":".utf8)
        let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        var nested = bad
        nested.payloadText = Array(deep.utf8)
        let number = INMessage(kind: "k", payload: .number("x"))
        let good = INMessage(kind: "k", payload: 2)
        center.messenger.send([good, bad, good, nested, good, number, good])
        #expect(bench.turn { center.messenger.statistics.stored == 4 })
        #expect(center.messenger.statistics.refused == 3)
        center.stop()
        bench.finish()
        #expect(try bench.books("sloppy").first?.dropped == 0)
    }

    @Test("a program without a proper name is refused with a reason")
    func badName() throws {
        let bench = try Bench()
        for name in ["", "a|b", String(repeating: "n", count: 256)] {
            let center = bench.center(name)
            #expect(throws: INError.invalidIdentity(name)) {
                try center.messenger.sendWaiting(INMessage(kind: "k", payload: 1), timeout: 1)
            }
            center.stop()
        }
        bench.finish()
    }

    @Test("acknowledgements by somebody who is not the collector are not believed")
    func falseCollector() throws {
        let bench = try Bench()
        let center = bench.center("careful")
        let fingerprint = ChannelNames.fingerprint(of: "careful", attempt: 1)
        let names = ChannelNames("c").peer(fingerprint)
        let other = try NotifyClient(path: bench.path)
        // The collector is not turned yet, so its names are still free for another to claim.
        #expect(eventually { center.messenger.statistics.hasCollector })
        let epoch = try #require(try other.list(prefix: names.epoch).first?.state)
        let collector = ChannelNames.fingerprint(of: BusSource.identifier, attempt: 1)
        let token = try other.claim(names.stored(by: collector, of: epoch))
        center.messenger.send([INMessage(kind: "k", payload: 1)])
        for value in [1, UInt64.max] { try other.setAndPost(token, value) }
        // What it waits for is the ring: by then the posts above have been heard.
        #expect(eventually { (try? other.list(prefix: names.head).first?.state) == 1 })
        #expect(center.messenger.statistics.stored == 0)
        other.close()
        #expect(bench.turn { center.messenger.statistics.stored == 1 })
        center.stop()
        bench.finish()
    }
}
