import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit
import Testing

@Suite struct StateTests {
    @Test("C1: a state is 0 at first")
    func first() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("c1")
        #expect(try client.state(token) == 0)
    }

    @Test("C2: all 64 bits come back", arguments: [0, 1, 1 << 63, UInt64.max])
    func roundTrip(value: UInt64) throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("c2")
        try client.setState(token, ~value)
        try client.setState(token, value)
        #expect(try client.state(token) == value)
    }

    @Test("C3: a state is the name's: seen by every token and connection")
    func shared() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let tokens = [try client.registerCheck("c3"), try client.registerCheck("c3")]
        let theirs = try other.registerCheck("c3")
        try client.setState(tokens[0], 33)
        #expect(try client.state(tokens[1]) == 33)
        #expect(try other.state(theirs) == 33)
        try other.setState(theirs, 34)
        #expect(try client.state(tokens[0]) == 34)
    }

    @Test("C4: a state lives as long as anybody has the name")
    func survives() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let mine = try client.registerCheck("c4")
        let theirs = try other.registerCheck("c4")
        try client.setState(mine, 44)
        try client.cancel(mine)
        #expect(try other.state(theirs) == 44)
        let again = try client.registerCheck("c4")
        #expect(try client.state(again) == 44)
    }

    @Test("C5: with the last token the state is gone")
    func gone() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("c5")
        try client.setState(token, 55)
        try client.cancel(token)
        let again = try client.registerCheck("c5")
        #expect(try client.state(again) == 0)
    }

    @Test(
        "C6, G3: so it is when the last holder is killed, though a forked child of it lives on",
        .enabled(if: CLibrary.mayRun, CLibrary.advice)
    )
    func killed() throws {
        let bus = try Bus()
        let client = try bus.client()
        let holder = try CLibrary.Run("hold", bus: bus.path)
        #expect(eventually { holder.output == "held\n" })
        let token = try client.registerCheck("hold")
        #expect(try client.state(token) == 5)
        try client.cancel(token)
        #expect(try client.list(prefix: "hold").count == 1)
        holder.kill()
        #expect(try eventually(3) { try client.list(prefix: "hold").isEmpty })
        let again = try client.registerCheck("hold")
        #expect(try client.state(again) == 0)
    }

    @Test("C8: who hears of a post finds the state that was set before it, or a later one")
    func ordered() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let token = try client.registerCheck("c8")
        let wrong = Mutex(0)
        let seen = Seen()
        _ = try client.registerDirect("c8") { event in
            let now = (try? client.state(token)) ?? 0
            if now < event.state || event.state < event.post { wrong.withLock { $0 += 1 } }
            seen.add(event)
        }
        let theirs = try other.registerCheck("c8")
        for value in 1...500 as ClosedRange<UInt64> {
            try other.setState(theirs, value)
            try other.post(theirs)
        }
        #expect(eventually { seen.all.last?.post == 500 })
        #expect(wrong.withLock { $0 } == 0)
    }
}
