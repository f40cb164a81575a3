import NotifyClient
import NotifyProtocol
import TestKit
import Testing

@Suite struct SuspendTests {
    /// A name of the bus, and one of the process: both keep the same rules.
    static let names = ["e", "self.e"]

    @Test("E1: posts to a suspended token are one delivery", arguments: names)
    func merged(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        try client.suspend(token)
        for _ in 0..<10 { try client.post(name) }
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
        #expect(seen.all.first?.merged == 10)
        #expect(try staysAt(1, seen))
        try client.post(name)
        #expect(eventually { seen.count == 2 })
    }

    @Test("E2: two suspends need two resumes", arguments: names)
    func nested(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        try client.suspend(token)
        try client.suspend(token)
        try client.post(name)
        try client.resume(token)
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
    }

    @Test("E3: a resume too many does nothing", arguments: names)
    func extra(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        for _ in 0..<3 { try client.resume(token) }
        try client.suspend(token)
        try client.post(name)
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
    }

    @Test("E4: the other tokens of the name go on", arguments: names)
    func others(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let (held, free) = (Seen(), Seen())
        let token = try client.registerHandler(name) { held.add($0) }
        _ = try client.registerHandler(name) { free.add($0) }
        try client.suspend(token)
        try client.post(name)
        #expect(eventually { free.count == 1 })
        #expect(held.count == 0)
    }

    @Test("E5: without a post a resume delivers nothing", arguments: names)
    func nothing(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        try client.suspend(token)
        try client.resume(token)
        #expect(try staysAt(0, seen))
    }

    @Test("E6: 300 suspends need 300 resumes", arguments: names)
    func many(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        for _ in 0..<300 { try client.suspend(token) }
        try client.post(name)
        for _ in 0..<299 { try client.resume(token) }
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
    }

    @Test("E7: a suspended token can be cancelled", arguments: names)
    func cancelled(name: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        try client.suspend(token)
        try client.post(name)
        try client.cancel(token)
        #expect(throws: NotifyStatus.invalidToken) { try client.resume(token) }
        #expect(try staysAt(0, seen))
    }

    @Test("suspends keep their depth over a restart of the broker")
    func restart() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler("e.restart") { seen.add($0) }
        try client.suspend(token)
        try client.suspend(token)
        bus.station.killBus()
        #expect(eventually { !client.isAttached })
        try bus.station.startBus()
        #expect(eventually { client.isAttached })
        try client.resume(token)
        try client.post("e.restart")
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
    }
}
