import LinuxIO
import NotifyProtocol
import Spool
import Synchronization
import Telemetry
import TestKit
import Testing

@testable import Agent
@testable import InternalNotification
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

    private final class Offset: Sendable {
        let boot = Mutex<UInt64>(0)
    }

    @Test("whoever is not back yet after a restart of the bus is not taken for silent")
    func notBackYet() throws {
        let offset = Offset()
        let clock = Clock(
            wall: Clock.system.wall,
            boot: { Clock.system.boot() + offset.boot.withLock { $0 } }
        )
        let bench = try Bench(clock: clock)
        // It finds the bus at a place of its own, so that it comes back when this test says so.
        let place = bench.folder.file("peer.sock")
        try Files.rename(bench.path, to: place)
        let peer = try RawPeer(bench, "p", fingerprint: 1, path: place)
        try Files.rename(place, to: bench.path)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        // Long after the agent began.
        offset.boot.withLock { $0 += 4 * ChannelReader.beatInterval }
        _ = bench.collector.turn()
        for _ in 0..<40 {
            offset.boot.withLock { $0 += ChannelReader.beatInterval }
            try peer.setBeat(clock.boot())
            _ = bench.collector.turn()
        }
        #expect(bench.collector.figures.alive == 2)
        try bench.restartBus { _ in }
        #expect(eventually { bench.client.isAttached && bench.client.attachNumber == 2 })
        for _ in 0..<4 {
            offset.boot.withLock { $0 += ChannelReader.beatInterval }
            _ = bench.collector.turn()
        }
        #expect(bench.collector.figures.alive == 2)
        try Files.rename(bench.path, to: place)
        #expect(eventually { peer.client.attachNumber == 2 && peer.client.isAttached })
        try Files.rename(place, to: bench.path)
        try peer.setBeat(clock.boot())
        _ = bench.collector.turn()
        #expect(bench.collector.figures.alive == 2)
        bench.finish()
        #expect(try bench.count(kind: "intel.presence") == 1)
    }

    @Test("a sender whose names somebody else has after a restart of the bus goes on under others")
    func takenNames() throws {
        let bench = try Bench()
        let center = bench.center("twin")
        let messenger = center.messenger
        messenger.send([INMessage(kind: "k", payload: 1)])
        #expect(bench.turn { messenger.statistics.stored == 1 })
        var other: RawPeer?
        try bench.restartBus { path in
            let fingerprint = ChannelNames.fingerprint(of: "twin", attempt: 1)
            other = try RawPeer(bench, "twin", fingerprint: fingerprint, epoch: 9, path: path)
        }
        messenger.send([INMessage(kind: "k", payload: 2)])
        #expect(bench.turn { messenger.statistics.stored == 2 })
        other?.client.close()
        center.stop()
        bench.finish()
        #expect(try stored(bench) == ["1", "2"])
    }

    @Test("a collector whose names somebody else has after a restart takes them when they are free")
    func takenCollector() throws {
        let bench = try Bench()
        let center = bench.center("p")
        let messenger = center.messenger
        messenger.send([INMessage(kind: "k", payload: 1)])
        #expect(bench.turn { messenger.statistics.stored == 1 })
        let names = ChannelNames("c").peer(ChannelNames.fingerprint(of: "p", attempt: 1))
        let collector = ChannelNames.fingerprint(of: BusSource.identifier, attempt: 1)
        let epoch = try #require(try bench.client.list(prefix: names.epoch).first?.state)
        var thief: NotifyClient?
        try bench.restartBus { path in
            thief = try NotifyClient(path: path)
            _ = try thief?.claim("c.collector")
            _ = try thief?.claim(names.stored(by: collector, of: epoch))
        }
        messenger.send([INMessage(kind: "k", payload: 2)])
        #expect(bench.turn { bench.client.isAttached && bench.client.attachNumber == 2 })
        for _ in 0..<3 { _ = bench.collector.turn() }
        #expect(messenger.statistics.stored == 1)
        thief?.close()
        #expect(bench.turn { messenger.statistics.stored == 2 })
        center.stop()
        bench.finish()
        #expect(try stored(bench) == ["1", "2"])
    }

    @Test("a name without a peer behind it is no peer, until it is one")
    func lateIdentity() throws {
        let bench = try Bench()
        let names = ChannelNames("c").peer(1)
        let early = try NotifyClient(path: bench.path)
        let token = try early.claim(names.epoch, ClaimOptions(state: 7))
        for _ in 0..<5 {
            try early.post("c")
            _ = bench.collector.turn()
        }
        #expect(bench.collector.peerCount == 0)
        try early.cancel(token)
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        let isMet = bench.turn {
            try? peer.client.post("c")
            return bench.collector.figures.alive == 2
        }
        #expect(isMet)
        // Nothing is left to be looked for: the next look is at the beats.
        let rests = eventually {
            bench.collector.turn() > Clock.system.boot() + ChannelReader.beatInterval / 4
        }
        #expect(rests)
        bench.finish()
    }

    @Test("of one peer no more is unpacked in a turn than a large message may be")
    func allowance() throws {
        let bench = try Bench()
        let peer = try RawPeer(bench, "p", fingerprint: 1)
        #expect(bench.turn { bench.collector.figures.alive == 2 })
        let collector = ChannelNames.fingerprint(of: BusSource.identifier, attempt: 1)
        let taken = try peer.client.registerCheck(peer.names.taken(by: collector, of: peer.epoch))
        // Behind a gap, so that nothing of it fills a batch.
        let blank = String(repeating: " ", count: 4 << 20)
        for number: UInt64 in 1...8 {
            let text = "[" + blank + message(9...9).dropFirst()
            try peer.write(text, first: 9, last: 9, sent: 9, number: number)
        }
        _ = bench.collector.turn()
        #expect(eventually { (try? peer.client.state(taken)) == 4 })
        #expect(bench.turn { (try? peer.client.state(taken)) == 8 })
        bench.finish()
    }

    @Test("a sender whose ring is full when its acknowledgements come back goes on")
    func takenAcknowledgements() throws {
        let bench = try Bench()
        let center = bench.center("p")
        let messenger = center.messenger
        messenger.send([INMessage(kind: "k", payload: 1)])
        #expect(bench.turn { messenger.statistics.stored == 1 })
        let names = ChannelNames("c").peer(ChannelNames.fingerprint(of: "p", attempt: 1))
        let collector = ChannelNames.fingerprint(of: BusSource.identifier, attempt: 1)
        let epoch = try #require(try bench.client.list(prefix: names.epoch).first?.state)
        var thief: NotifyClient?
        try bench.restartBus { path in
            thief = try NotifyClient(path: path)
            _ = try thief?.claim(names.taken(by: collector, of: epoch))
        }
        // More than a ring, as it does not pack.
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let text = (0..<8).map { _ in String(random.next(), radix: 16) }.joined()
            messenger.send([INMessage(kind: "k", payload: .string(text))])
        }
        #expect(bench.turn { ((try? bench.count(kind: "k")) ?? 0) > 100 })
        thief?.close()
        #expect(bench.turn { messenger.statistics.stored == 2001 })
        center.stop()
        bench.finish()
        #expect(try bench.count(kind: "k") == 2001)
    }

    @Test("a run that is met a second time is told what is on the disk, not what is on the way")
    func metAgain() throws {
        let books = Books()
        var pipeline = Pipeline(books: books)
        let peer = PeerInstance(identifier: "p", epoch: 1)
        let descriptor = TransferDescriptor(
            number: 1,
            offset: 0,
            chunks: 1,
            size: 1,
            compressedSize: 1,
            crc: 0,
            isUrgent: false,
            isOldest: true,
            sequences: 1...2,
            sent: 2,
            epoch: 1
        )
        #expect(pipeline.books.isSettled(peer))
        pipeline.accept(Array(message(1...2).utf8), descriptor, from: peer, 1, 1)
        #expect(pipeline.books.accountedUpTo(peer) == 2 && !pipeline.books.isSettled(peer))
        _ = pipeline.books.takeChanges()
        #expect(!pipeline.books.isSettled(peer))
        pipeline.books.settle()
        #expect(pipeline.books.isSettled(peer))
    }

    @Test("thousands of names that are no peers, and change, keep no peer from being met")
    func manyFalseNames() throws {
        let bench = try Bench()
        let client = try NotifyClient(path: bench.path)
        var tokens: [NotifyToken] = []
        for first in stride(from: UInt32(1), through: 600, by: 100) {
            tokens += try client.claimAll(
                (first..<first + 100).map {
                    (ChannelNames("c").peer($0).epoch, ClaimOptions(state: 7), 0)
                }
            )
        }
        let peer = try RawPeer(bench, "p", fingerprint: .max)
        var state: UInt64 = 7
        let isMet = bench.turn {
            state += 1
            for part in stride(from: 0, to: tokens.count, by: 100) {
                var batch = NotifyBatch()
                for token in tokens[part..<part + 100] { batch.set(token, state) }
                try? client.write(batch, quiet: false)
            }
            try? client.post("c")
            return bench.collector.figures.alive == 2
        }
        #expect(isMet)
        peer.client.close()
        bench.finish()
    }
}
