import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

@Suite struct ProcessTests {
    @Test("F1: a self. name is this client's alone, and needs no broker", arguments: [true, false])
    func selfNames(hasBroker: Bool) throws {
        let bus = try Bus(isStarted: hasBroker)
        let (client, other) = (try bus.lateClient(), try bus.lateClient())
        let seen = Seen()
        let check = try client.registerCheck("self.f1")
        let handler = try client.registerHandler("self.f1") { seen.add($0) }
        _ = try client.registerDirect("self.f1") { seen.add($0) }
        let pipe = try client.registerFileDescriptor("self.f1")
        let theirs = try other.registerCheck("self.f1")
        #expect(try other.check(theirs))
        #expect(try client.check(check))
        #expect(try !client.check(check))
        try client.setAndPost(check, 71)
        #expect(try client.check(check))
        #expect(try !client.check(check))
        #expect(try client.state(handler) == 71)
        #expect(eventually { seen.count == 2 })
        #expect(seen.all.map(\.state) == [71, 71])
        #expect(seen.all.first?.pid == Environment.pid)
        #expect(try tokens(in: pipe.descriptor) == [pipe.token])
        #expect(try other.state(theirs) == 0)
        #expect(try !other.check(theirs))
        #expect(throws: NotifyStatus.invalidRequest) { try client.claim("self.f1") }
        if hasBroker { #expect(try client.list(prefix: "self.").isEmpty) }
        for token in [check, handler] { try client.cancel(token) }
        #expect(throws: NotifyStatus.invalidToken) { try client.check(check) }
    }

    @Test("C5: the state of a self. name is gone with its last token")
    func selfState() throws {
        let bus = try Bus(isStarted: false)
        let client = try bus.lateClient()
        let (one, two) = (try client.registerCheck("self.c5"), try client.registerCheck("self.c5"))
        try client.setState(one, 5)
        try client.cancel(one)
        #expect(try client.state(two) == 5)
        try client.cancel(two)
        let again = try client.registerCheck("self.c5")
        #expect(try client.state(again) == 0)
    }

    @Test("G4: a broker that is killed and started again is found; no token, state or edge is lost")
    func restart() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let claimed = try client.claim("g4.claimed")
        try client.setState(claimed, 44)
        let edge = try client.registerCheck("g4.edge")
        _ = try client.check(edge)
        try client.post(edge)
        let quiet = try client.registerCheck("g4.quiet")
        _ = try client.check(quiet)
        _ = try client.registerHandler("g4") { seen.add($0) }
        let signal = try client.registerSignal("g4", 23)
        _ = try client.check(signal)
        let pipe = try client.registerFileDescriptor("g4")
        bus.station.killBus()
        #expect(eventually { !client.isAttached })
        #expect(throws: NotifyStatus.serverNotFound) { try client.post("g4") }
        #expect(throws: NotifyStatus.serverNotFound) { try client.check(edge) }
        try bus.station.startBus()
        #expect(eventually { client.isAttached })
        #expect(try client.check(edge))
        #expect(try !client.check(quiet))
        #expect(try client.state(claimed) == 44)
        try client.post("g4")
        #expect(eventually { seen.count == 1 })
        #expect(try tokens(in: pipe.descriptor) == [pipe.token])
        #expect(try client.check(signal))
    }

    @Test("G5: without a broker calls say so at once, and work as soon as there is one")
    func absent() throws {
        let bus = try Bus(isStarted: false)
        let client = try bus.lateClient()
        let start = Clock.system.boot()
        for _ in 0..<100 {
            #expect(throws: NotifyStatus.serverNotFound) { try client.post("g5") }
            #expect(throws: NotifyStatus.serverNotFound) { try client.registerCheck("g5") }
            #expect(throws: NotifyStatus.serverNotFound) { try client.postOneWay("g5") }
        }
        #expect(Clock.system.boot() - start < 5_000_000_000)
        #expect(client.quietErrors == 100)
        try bus.station.startBus()
        let token = try client.registerCheck("g5")
        _ = try client.check(token)
        try client.post("g5")
        #expect(try client.check(token))
    }

    @Test("G5: a broker that hangs costs a client one second, not one for each call")
    func stalled() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("stall")
        _ = try client.check(token)
        bus.station.freezeBus()
        let start = Clock.system.boot()
        for _ in 0..<20 {
            #expect(throws: NotifyStatus.serverNotFound) { try client.post("stall") }
            #expect(throws: NotifyStatus.serverNotFound) { try client.setState(token, 1) }
            #expect(throws: NotifyStatus.serverNotFound) { try client.registerCheck("late") }
        }
        // A new client is not held up for ever either.
        let late = try bus.lateClient()
        for _ in 0..<20 {
            #expect(throws: NotifyStatus.serverNotFound) { try late.post("stall") }
        }
        // Nor is a one-way post, which fills the socket first.
        var refused = 0
        for _ in 0..<5000 {
            do { try client.postOneWay("stall") } catch { refused += 1 }
        }
        #expect(refused > 0)
        #expect(client.quietErrors == UInt64(refused))
        #expect(Clock.system.boot() - start < 10_000_000_000)
        #expect(try client.state(token) == 0)
        bus.station.thawBus()
        #expect(eventually { (try? client.post("stall")) != nil })
        #expect(try client.check(token))
        // The registration that came too late is not left behind.
        #expect(try client.list(prefix: "late").isEmpty)
        #expect(eventually { (try? late.post("stall")) != nil })
    }
}
