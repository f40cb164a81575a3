import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// Connections that end while the broker still has something to do for them.
@Suite struct EndTests {
    @Test("a deadline that a frame of many turns has made last is kept on a quiet bus")
    func deadlineAtTheEndOfALongFrame() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        _ = try client.registerDirect("end.late") { seen.add($0) }
        let one = try RawConnection(bus.path)
        var wanted = Registration(token: 1000, name: "end.late")
        wanted.claims = true
        wanted.will = 9
        wanted.deadline = 100
        let many = (0..<100 as Range<UInt32>).map {
            Operation.register(Registration(token: $0, name: "end.\($0)"))
        }
        #expect(try one.ask(many + [.register(wanted)]).allSatisfy { $0 == 0 })
        // Nobody says anything that would wake the broker.
        #expect(eventually { seen.all.first?.cause == .expired })
    }

    @Test("whoever reads nothing and shuts its socket is gone, and costs nothing")
    func shutWithoutReading() throws {
        let bus = try Bus()
        let client = try bus.client()
        let socket = try PacketSocket.connect(to: bus.path)
        try socket.send(RawFrames.hello, waiting: true)
        let request = RawFrames.request([Operation](repeating: .inspect(token: 5), count: 400))
        // Full for a while: the broker does not go on before somebody reads.
        while (try? socket.send(request)) != nil || socket.waitWritable(milliseconds: 300) {}
        #expect(try client.connections().count == 2)
        socket.shutDown()
        #expect(try eventually { try client.connections().count == 1 })
        let before = ProcessFigures.runNanoseconds(bus.station.busPid)
        try Wake().wait(nanoseconds: silence)
        #expect(ProcessFigures.runNanoseconds(bus.station.busPid) - before < silence / 2)
    }

    @Test(
        "what a program says before it ends counts, whether or not it has read all",
        arguments: [
            false, true,
        ]
    )
    func saidBeforeTheEnd(hasUnread: Bool) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerDirect("end.said") { seen.add($0) }
        let other = try client.registerCheck("end.unread")
        var one: RawConnection? = try RawConnection(bus.path)
        var wanted = Registration(token: 1, name: "end.said")
        wanted.claims = true
        wanted.will = 8
        let unread = Registration(token: 2, name: "end.unread", delivers: true)
        #expect(try one?.ask([.register(wanted), .register(unread)]) == [0, 0])
        if hasUnread { try client.post(other) }
        bus.station.freezeBus()
        try one?.send(RawFrames.request([.setAndPost(token: 1, state: 7)], isQuiet: true))
        try one?.send(RawFrames.request([.goodbye], isQuiet: true))
        one = nil
        bus.station.thawBus()
        #expect(eventually { seen.all.last?.cause == .left })
        #expect(try client.peek(token) == 2 && client.state(token) == 8)
    }

    @Test("a frame of many turns is done whole, though its sender is gone at once")
    func longFrameBeforeTheEnd() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("end.long")
        var one: RawConnection? = try RawConnection(bus.path)
        #expect(try one?.ask([.register(Registration(token: 1, name: "end.long"))]) == [0])
        let posts = [Operation](repeating: .post(token: 1), count: 2000)
        bus.station.freezeBus()
        for _ in 0..<2 { try one?.send(RawFrames.request(posts, isQuiet: true)) }
        one = nil
        bus.station.thawBus()
        #expect(try eventually { try client.peek(token) == 4000 })
        #expect(try eventually { try client.connections().count == 1 })
    }
}
