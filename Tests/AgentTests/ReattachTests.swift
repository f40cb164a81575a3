import InternalNotification
import LinuxIO
import NotifyProtocol
import Spool
import Synchronization
import Telemetry
import TestKit
import Testing

@testable import Agent
@testable import NotifyClient

/// After a restart of the bus registers come back one by one, on both sides: what the collector
/// can read of a peer meanwhile is a part, and nothing may be passed over or stored early for it.
@Suite struct ReattachTests {
    /// Turns the collector until so many are stored.
    private func hasStored(_ bench: Bench, _ count: Int) -> Bool {
        bench.turn { (try? bench.count(kind: "k")) == count }
    }

    private func message(_ sequences: ClosedRange<UInt64>) -> String {
        let items = sequences.map {
            #"{"seq":\#($0),"time":\#($0),"boot":1,"kind":"k","level":"info","payload":\#($0)}"#
        }
        return "[" + items.joined(separator: ",") + "]"
    }

    /// Payloads of kind `k`, in the order of the history.
    private func stored(_ bench: Bench) throws -> [String] {
        var reader = try SpoolReader(directory: bench.folder.file("spool"))
        var found: [String] = []
        _ = try reader.forEach(Query()) { record in
            let copy = record.copy()
            if copy.kind == "k" { found.append(String(decoding: copy.payload, as: UTF8.self)) }
            return true
        }
        return found
    }

    @Test(
        "a transfer whose table or bytes are not back yet is read once they are",
        arguments: [4, 5]
    )
    func unreadable(late: Int) throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        let name = late == 4 ? peer.names.pool : peer.names.transfers
        let client = bench.client
        let token = try #require(
            client.state.withLock { $0.entries.first { $0.value.wanted.name == name }?.key }
        )
        let word = client.table.word(token)
        client.table.clear(token)
        try peer.write(message(1...2), first: 1, last: 2, sent: 2, isOldest: true)
        for _ in 0..<3 { _ = bench.collector.turn() }
        client.table.set(token, slot: TokenTable.slot(word), attach: word >> 44)
        try peer.write(message(3...3), first: 3, last: 3, sent: 3, number: 2)
        #expect(hasStored(bench, 3))
        bench.finish()
        #expect(try stored(bench) == ["1", "2", "3"])
    }

    @Test("a peer that has ended is let go, though its bytes cannot be read any more")
    func ended() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        try peer.client.cancel(peer.tokens[5])
        try peer.setHead(1)
        for _ in 0..<3 { _ = bench.collector.turn() }
        peer.client.close()
        #expect(bench.turn { bench.collector.peerCount == 0 })
        bench.finish()
    }

    @Test("behind a gap nothing of a live peer is stored before the gap is filled")
    func gap() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        try peer.write(message(1...1), first: 1, last: 1, sent: 1, isOldest: true)
        #expect(hasStored(bench, 1))
        // Number 2 is not in the table: the collector sees a gap.
        try peer.write(message(5...6), first: 5, last: 6, sent: 6, number: 3)
        for _ in 0..<3 { _ = bench.collector.turn() }
        try peer.write(message(2...4), first: 2, last: 4, sent: 6, number: 4)
        try peer.write(message(5...6), first: 5, last: 6, sent: 6, number: 5)
        #expect(hasStored(bench, 6))
        bench.finish()
        #expect(try stored(bench) == (1...6).map { "\($0)" })
    }

    @Test("what was passed over behind a gap is read when the peer has ended")
    func gapAtTheEnd() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        try peer.write(message(1...1), first: 1, last: 1, sent: 1, isOldest: true)
        #expect(hasStored(bench, 1))
        try peer.write(message(5...6), first: 5, last: 6, sent: 6, number: 3)
        for _ in 0..<3 { _ = bench.collector.turn() }
        peer.client.close()
        #expect(bench.turn { bench.collector.peerCount == 0 })
        bench.finish()
        #expect(try stored(bench) == ["1", "5", "6"])
        let books = try #require(try bench.books("p").first)
        #expect(books.missing == 3 && books.stored == 3)
    }

    @Test("numbers that a transfer promises and does not hold do not stop what follows")
    func promised() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        try peer.write(message(2...2), first: 1, last: 3, sent: 3, isOldest: true)
        #expect(hasStored(bench, 1))
        try peer.write(message(4...4), first: 4, last: 4, sent: 4, number: 2)
        #expect(hasStored(bench, 2))
        bench.finish()
        #expect(try bench.books("p").first?.missing == 2)
    }
}
