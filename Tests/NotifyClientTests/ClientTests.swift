import Dispatch
import LinuxIO
import NotifyBroker
import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit
import Testing

/// A broker in a folder, and clients on it.
final class Bus {
    let folder: TemporaryFolder
    private(set) var broker: BrokerThread?

    init() throws {
        folder = try TemporaryFolder()
        broker = try BrokerThread(path: path)
    }

    var path: String { folder.file("bus.sock") }

    func client() throws -> NotifyClient { try NotifyClient(path: path) }

    func stop() {
        broker?.stop()
        broker = nil
    }

    func start() throws { broker = try BrokerThread(path: path) }

    deinit { stop() }
}

/// Events that a handler has seen.
final class Seen: Sendable {
    private let events = Mutex<[NotifyEvent]>([])

    /// Copied one by one: that the next append waits until nobody has the array any more is told by
    /// its reference count, which the thread sanitizer does not see.
    var all: [NotifyEvent] { events.withLock { $0.map { $0 } } }
    var count: Int { all.count }

    func add(_ event: NotifyEvent) { events.withLock { $0.append(event) } }
}

@Suite struct CheckTests {
    @Test("B1: the first check is true, the second is not")
    func firstCheck() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("a")
        #expect(try client.check(token))
        #expect(try !client.check(token))
        client.close()
    }

    @Test("B2 to B5: posts make check true once, for every token of the name, own posts included")
    func posts() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let (one, two) = (try client.registerCheck("a"), try client.registerCheck("a"))
        _ = (try client.check(one), try client.check(two))
        for _ in 0..<5 { try other.post("a") }
        #expect(try client.check(one))
        #expect(try !client.check(one))
        #expect(try client.check(two))
        try client.post(one)
        #expect(try client.check(one))
        client.close()
        other.close()
    }

    @Test("B6, B7: earlier posts and states make no edge")
    func noEdge() throws {
        let bus = try Bus()
        let client = try bus.client()
        try client.post("a")
        let token = try client.registerCheck("a")
        #expect(try client.check(token))
        try client.setState(token, 7)
        #expect(try !client.check(token))
        client.close()
    }

    @Test("A5: a cancelled token is invalid in every call")
    func invalidTokens() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("a")
        try client.cancel(token)
        #expect(!client.isValid(token))
        for wrong in [token, -1, 0, 99] as [NotifyToken] {
            #expect(throws: NotifyStatus.invalidToken) { try client.check(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.state(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.setState(wrong, 1) }
            #expect(throws: NotifyStatus.invalidToken) { try client.suspend(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.resume(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.cancel(wrong) }
        }
        client.close()
    }
}

@Suite struct StateTests {
    @Test("C1 to C3: states of 64 bits are seen by every token and process")
    func states() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let (mine, theirs) = (try client.registerCheck("s"), try other.registerCheck("s"))
        #expect(try client.state(mine) == 0)
        for value in [1, 1 << 63, UInt64.max, 0] as [UInt64] {
            try client.setState(mine, value)
            #expect(try other.state(theirs) == value)
        }
        client.close()
        other.close()
    }

    @Test("C4, C5: a state lives as long as a registration of its name")
    func lifetime() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let (mine, theirs) = (try client.registerCheck("s"), try other.registerCheck("s"))
        try client.setState(mine, 5)
        try client.cancel(mine)
        #expect(try other.state(theirs) == 5)
        try other.cancel(theirs)
        let again = try client.registerCheck("s")
        #expect(try client.state(again) == 0)
        client.close()
        other.close()
    }
}

@Suite struct DeliveryTests {
    @Test("D1, D6: every registration gets its own event, with the state and the sender")
    func dispatch() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let (one, two) = (Seen(), Seen())
        let token = try client.registerDispatch("d", queue: DispatchQueue(label: "q")) {
            one.add($0)
        }
        _ = try client.registerDirect("d") { two.add($0) }
        let sender = try other.registerCheck("d")
        try other.setAndPost(sender, 42)
        #expect(eventually { one.count == 1 && two.count == 1 })
        let event = try #require(one.all.first)
        #expect(event.token == token && event.state == 42 && event.post == 1 && event.merged == 1)
        #expect(event.pid == Environment.pid && event.uid == Environment.uid)
        #expect(event.connection == other.connection && event.cause == .post)
        client.close()
        other.close()
    }

    @Test("D2, D3: a pipe carries the tokens, big-endian, of all that share it")
    func fileDescriptor() throws {
        let bus = try Bus()
        let client = try bus.client()
        let (one, descriptor) = try client.registerFileDescriptor("f1")
        let two = try client.registerFileDescriptor("f2", reuse: descriptor).token
        for (name, token) in [("f1", one), ("f2", two)] {
            try client.post(name)
            var bytes = [UInt8](repeating: 0, count: 4)
            #expect(try Descriptor.read(descriptor, into: &bytes) == 4)
            #expect(bytes.reduce(0) { $0 << 8 | Int32($1) } == token)
        }
        client.close()
    }

    @Test("D8: a pipe that was full gets the waiting token once it is drained")
    func fullPipe() throws {
        let bus = try Bus()
        let client = try bus.client()
        let (token, descriptor) = try client.registerFileDescriptor("full")
        for _ in 0..<20_000 { try client.post("full") }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        _ = try Descriptor.read(descriptor, into: &bytes)
        try client.post(token)
        #expect(try Descriptor.read(descriptor, into: &bytes) >= 4)
        client.close()
    }

    @Test("E1 to E5: suspended posts merge into one; suspends nest; extra resumes do no harm")
    func suspend() throws {
        let bus = try Bus()
        let client = try bus.client()
        let (held, free) = (Seen(), Seen())
        let token = try client.registerDirect("e") { held.add($0) }
        _ = try client.registerDirect("e") { free.add($0) }
        try client.suspend(token)
        try client.suspend(token)
        for _ in 0..<10 { try client.post("e") }
        try client.resume(token)
        #expect(eventually { !free.all.isEmpty && free.all.last?.post == 10 })
        #expect(held.count == 0)
        try client.resume(token)
        #expect(eventually { held.count == 1 })
        #expect(held.all.first?.merged == 10)
        try client.resume(token)
        try client.suspend(token)
        try client.resume(token)
        try client.post("e")
        #expect(eventually { held.count == 2 })
        client.close()
    }

    @Test("one post reaches 1,000 registrations")
    func manySubscribers() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        for _ in 0..<1000 { _ = try client.registerDirect("many") { seen.add($0) } }
        try client.post("many")
        #expect(eventually { seen.count == 1000 })
        #expect(Set(seen.all.map(\.token)).count == 1000)
        client.close()
    }

    @Test("a batch is seen whole: the pool is written before the post arrives")
    func batch() throws {
        let bus = try Bus()
        let (owner, reader) = (try bus.client(), try bus.client())
        let pool = try owner.claimPool("b.pool", count: 4096)
        let signal = try owner.registerCheck("b.signal")
        let opened = try reader.openPool("b.pool")
        let isWhole = Mutex<Bool?>(nil)
        let words = (0..<4096).map { UInt64($0) &* 0x9e37_79b9_7f4a_7c15 }
        _ = try reader.registerDirect("b.signal") { _ in
            var read: [UInt64] = []
            try? reader.readPool(opened, at: 0, count: 4096, into: &read)
            isWhole.withLock { $0 = read == words }
        }
        var batch = NotifyBatch()
        batch.poolWrite(pool, at: 0, words: words)
        batch.setAndPost(signal, 1)
        try owner.write(batch)
        #expect(eventually { isWhole.withLock { $0 != nil } })
        #expect(isWhole.withLock { $0 } == true)
        owner.close()
        reader.close()
    }
}

@Suite struct ClaimTests {
    @Test("a claimed name is written by its claimer alone, and claimed once")
    func claims() throws {
        let bus = try Bus()
        let (owner, other) = (try bus.client(), try bus.client())
        let mine = try owner.claim("c", ClaimOptions(state: 9))
        let theirs = try other.registerCheck("c")
        #expect(try other.state(theirs) == 9)
        #expect(throws: NotifyStatus.notAuthorized) { try other.setState(theirs, 1) }
        #expect(throws: NotifyStatus.notAuthorized) { try other.post("c") }
        #expect(throws: NotifyStatus.notAuthorized) { try other.claim("c") }
        let info = try other.information(theirs)
        #expect(info.connection == owner.connection && info.pid == Environment.pid)
        try owner.cancel(mine)
        #expect(eventually { (try? other.claim("c")) != nil })
        owner.close()
        other.close()
    }

    @Test("all claims of one call are granted, or none")
    func allOrNone() throws {
        let bus = try Bus()
        let (owner, other) = (try bus.client(), try bus.client())
        _ = try owner.claim("n2")
        let wanted = ["n1", "n2"].map { (name: $0, options: ClaimOptions(), pool: 0) }
        #expect(throws: NotifyStatus.notAuthorized) { try other.claimAll(wanted) }
        #expect(eventually { (try? owner.claim("n1")) != nil })
        owner.close()
        other.close()
    }

    @Test(
        "a will tells left from died, and a lingering claim stays claimed",
        arguments: [true, false]
    )
    func will(leaves: Bool) throws {
        let bus = try Bus()
        let other = try bus.client()
        let seen = Seen()
        let watch = try other.registerDirect("w") { seen.add($0) }
        if leaves {
            let owner = try bus.client()
            _ = try owner.claim("w", ClaimOptions(state: 1, will: 2, linger: 30))
            owner.close()
        } else {
            // A frame that is no frame: the broker closes the connection, without a goodbye.
            let socket = try PacketSocket.connect(to: bus.path)
            try socket.send(RawFrames.hello)
            try socket.send(RawFrames.claim("w", will: 2, linger: 30))
            var answer = [UInt8](repeating: 0, count: 4096)
            for _ in 0..<2 { _ = try socket.receive(into: &answer, waiting: true) }
            socket.shutDown()
        }
        #expect(eventually { seen.count == 1 })
        #expect(seen.all.first?.cause == (leaves ? .left : .died))
        #expect(seen.all.first?.state == 2)
        #expect(try other.information(watch).cause == (leaves ? .left : .died))
        #expect(throws: NotifyStatus.notAuthorized) { try other.claim("w") }
        other.close()
    }
}

@Suite struct RestartTests {
    @Test("after a restart of the broker tokens work, claims are said again, no edge is lost")
    func restart() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let seen = Seen()
        let again = Mutex(false)
        let otherAgain = Mutex(false)
        client.onAttach { _ in again.withLock { $0 = true } }
        other.onAttach { _ in otherAgain.withLock { $0 = true } }
        let claimed = try client.claim("r.claimed", ClaimOptions(state: 1))
        try client.setState(claimed, 77)
        let edge = try client.registerCheck("r.edge")
        _ = try client.check(edge)
        try client.post(edge)
        _ = try client.registerDirect("r.event") { seen.add($0) }
        bus.stop()
        #expect(eventually { !client.isAttached && !other.isAttached })
        #expect(throws: NotifyStatus.serverNotFound) { try client.post("x") }
        #expect(throws: NotifyStatus.serverNotFound) { try client.state(edge) }
        try bus.start()
        #expect(eventually { again.withLock { $0 } && otherAgain.withLock { $0 } })
        #expect(try client.check(edge))
        let theirs = try other.registerCheck("r.claimed")
        #expect(try other.state(theirs) == 77)
        #expect(throws: NotifyStatus.notAuthorized) { try other.setState(theirs, 1) }
        try other.post("r.event")
        #expect(eventually { seen.count == 1 })
        client.close()
        other.close()
    }

    @Test("without a broker a client says so at once")
    func nobodyThere() throws {
        let folder = try TemporaryFolder()
        #expect(throws: NotifyStatus.serverNotFound) {
            try NotifyClient(path: folder.file("none.sock"))
        }
    }
}

@Suite struct HostileTests {
    @Test("malformed, truncated and oversized frames close that connection and disturb nobody")
    func garbage() throws {
        let bus = try Bus()
        let good = try bus.client()
        let token = try good.registerCheck("g")
        var frames: [[UInt8]] = [
            [0], Array(repeating: 0xff, count: 16), RawFrames.hello.dropLast(),
        ]
        frames.append(Array(repeating: 7, count: 70_000))
        frames.append(RawFrames.claim("before hello", will: 0, linger: 0))
        for frame in frames {
            let socket = try PacketSocket.connect(to: bus.path)
            try socket.send(frame, waiting: true)
            var answer = [UInt8](repeating: 0, count: 4096)
            #expect((try? socket.receive(into: &answer, waiting: true).count) ?? 0 == 0)
        }
        try good.setState(token, 3)
        #expect(try good.state(token) == 3)
        good.close()
    }

    @Test("a subscriber that never reads costs one waiting event, and the last post reaches it")
    func neverReads() throws {
        let bus = try Bus()
        let good = try bus.client()
        let socket = try PacketSocket.connect(to: bus.path)
        try socket.send(RawFrames.hello)
        try socket.send(RawFrames.register("h", token: 1))
        let token = try good.registerCheck("h")
        for value in 1...20_000 as ClosedRange<UInt64> {
            var batch = NotifyBatch()
            batch.setAndPost(token, value)
            try good.write(batch)
        }
        try good.setAndPost(token, 20_001)
        var last: UInt64 = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while last < 20_001 {
            let packet = try socket.receive(into: &buffer, waiting: true)
            guard packet.count > 0 else { break }
            last = max(last, RawFrames.lastState(Array(buffer[..<packet.count])))
        }
        #expect(last == 20_001)
        good.close()
    }
}
