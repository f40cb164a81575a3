import Basics
import LinuxIO
import NotifyClient
import NotifyProtocol
import Telemetry
import TestKit
import Testing

@testable import Agent
@testable import InternalNotification

/// Peers that write what no SDK writes into their registers: the collector goes on, keeps its
/// books, and serves everybody else.
@Suite struct HostileTests {
    /// An honest peer is still served.
    private func expectService(_ bench: Bench) {
        let center = bench.center("honest")
        center.messenger.send([INMessage(kind: "k", payload: 1)])
        #expect(bench.turn { center.messenger.statistics.stored == 1 })
        center.stop()
    }

    @Test func registersOfAnyValue() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "evil", fingerprint: 1)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        for value in [UInt64.max, 1 << 63, 0] {
            try peer.setBeat(value)
            try peer.setHead(value)
            expectService(bench)
            try peer.setTail(value)
            expectService(bench)
        }
        bench.finish()
    }

    @Test func numbersOfAnyValue() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "evil", fingerprint: 1)
        let end = UInt64.max
        let limit = Limits.sequenceMax
        func message(_ sequence: UInt64) -> String {
            #"[{"seq":\#(sequence),"time":1,"boot":1,"kind":"e","level":"info","payload":1}]"#
        }
        try peer.write(message(end), first: end, last: end, sent: end)
        expectService(bench)
        try peer.write(message(end), first: 1, last: 1, sent: 1, number: 2)
        expectService(bench)
        try peer.write(message(99), first: 2, last: 3, sent: 3, number: 3)
        expectService(bench)
        let drop = #"[{"dropped":[1,\#(end)],"reason":"x"}]"#
        try peer.write(drop, first: 4, last: 4, sent: 4, number: 4)
        expectService(bench)
        try peer.write(message(5), first: 5, last: 5, sent: limit, number: 5)
        expectService(bench)
        #expect(bench.turn { bench.collector.figures.malformed >= 3 })
        bench.finish()
        let books = try #require(try bench.books("evil").first)
        #expect(books.stored == 1 && books.dropped == 4 && books.sent == 5)
        #expect(books.sent == books.stored + books.dropped + books.missing)
    }

    @Test("a peer whose ring reads as empty, tail beyond head, is let go when it ends")
    func emptyRing() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "evil", fingerprint: 1)
        try peer.setHead(5)
        try peer.setTail(6)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        peer.client.close()
        #expect(bench.turn { bench.collector.peerCount == 0 })
        bench.finish()
    }

    @Test("whoever calls itself what another peer is called, to the start time, is passed over")
    func impostor() throws {
        let bench = try Bench()
        let victim = try RawPeer(bench, "victim", fingerprint: 1)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        let forger = try RawPeer(bench, "victim", fingerprint: 2)
        let text = #"[{"seq":1,"time":1,"boot":1,"kind":"forged","level":"info","payload":1}]"#
        try forger.write(text, first: 1, last: 1, sent: 1)
        #expect(bench.turn { bench.collector.figures.impostors == 1 })
        let real = #"[{"seq":1,"time":1,"boot":1,"kind":"real","level":"info","payload":1}]"#
        try victim.write(real, first: 1, last: 1, sent: 1)
        #expect(bench.turn { bench.collector.figures.stored >= 3 })
        bench.finish()
        #expect(try bench.count(kind: "real") == 1 && bench.count(kind: "forged") == 0)
    }

    @Test("a transfer of thousands of gaps costs little time and bounded memory")
    func manyGaps() {
        var pipeline = Pipeline(books: Books())
        let peer = PeerInstance(identifier: "p", epoch: 1)
        let last: UInt64 = 10_000_000
        let numbers = [1, last] + stride(from: 3, to: 40_000, by: 2)
        let items = numbers.map { #"{"seq":\#($0),"kind":"k","payload":1}"# }
        let descriptor = TransferDescriptor(
            number: 1,
            offset: 0,
            chunks: 1,
            size: 1,
            compressedSize: 1,
            crc: 0,
            isUrgent: false,
            isOldest: true,
            sequences: 1...last,
            sent: last,
            epoch: 1
        )
        let json = Array(("[" + items.joined(separator: ",") + "]").utf8)
        pipeline.accept(json, descriptor, from: peer, 1, 1)
        let state = pipeline.books[peer]
        #expect(state.holes.count <= Limits.holesMax)
        #expect(state.sent == state.stored + state.dropped + state.missing)
        let lost = pipeline.batcher.losses.reduce(0) { $0 + UInt64($1.sequences.count) }
        #expect(lost == state.dropped, "each number that is given up is in a row of the losses")
        #expect(!pipeline.batcher.hasRoom, "losses take room as well")
    }
}
