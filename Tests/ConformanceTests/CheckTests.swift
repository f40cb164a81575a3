import Dispatch
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

@Suite struct CheckTests {
    /// A token whose first check is done.
    private func quiet(_ client: NotifyClient, _ name: String) throws -> NotifyToken {
        let token = try client.registerCheck(name)
        _ = try client.check(token)
        return token
    }

    @Test("B1: the first check is true, the second is not")
    func first() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("b1")
        #expect(try client.check(token))
        #expect(try !client.check(token))
    }

    @Test("B2: a post makes one check true")
    func post() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let token = try quiet(client, "b2")
        try other.post("b2")
        #expect(try client.check(token))
        #expect(try !client.check(token))
    }

    @Test("B3: five posts are one edge")
    func merged() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let token = try quiet(client, "b3")
        let before = try client.peek(token)
        for _ in 0..<5 { try other.post("b3") }
        #expect(try client.check(token))
        #expect(try !client.check(token))
        #expect(try client.peek(token) - before == 5)
    }

    @Test("B4: one's own posts count")
    func own() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try quiet(client, "b4")
        try client.post(token)
        #expect(try client.check(token))
    }

    @Test("B5: tokens of one name have edges of their own, however they are delivered")
    func independent() throws {
        let bus = try Bus()
        let client = try bus.client()
        let tokens = [
            try client.registerCheck("b5"), try client.registerCheck("b5"),
            try client.registerHandler("b5") { _ in }, try client.registerHandler("b5") { _ in },
        ]
        for token in tokens { _ = try client.check(token) }
        try client.post("b5")
        for token in tokens {
            #expect(try client.check(token))
            #expect(try !client.check(token))
        }
    }

    @Test("B6: posts before a registration leave no more than the first edge")
    func before() throws {
        let bus = try Bus()
        let client = try bus.client()
        for _ in 0..<3 { try client.post("b6") }
        let token = try client.registerCheck("b6")
        #expect(try client.check(token))
        #expect(try !client.check(token))
    }

    @Test("B7: a state alone makes no edge")
    func state() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try quiet(client, "b7")
        try client.setState(token, 9)
        #expect(try !client.check(token))
    }

    @Test("B8: check works for tokens of every delivery type")
    func everyType() throws {
        let bus = try Bus()
        let client = try bus.client()
        // Signal 23, SIGURG, does nothing to a process that has not asked for it.
        let tokens = [
            try client.registerSignal("b8", 23),
            try client.registerFileDescriptor("b8").token,
            try client.registerDispatch("b8", queue: DispatchQueue(label: "b8")) { _ in },
            try client.registerDirect("b8") { _ in },
            try client.registerHandler("b8") { _ in },
        ]
        for token in tokens { #expect(try client.check(token)) }
        for token in tokens { #expect(try !client.check(token)) }
        try client.post("b8")
        for token in tokens { #expect(try client.check(token)) }
    }
}
