import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// Two processes, and what is left of one that ends.
@Suite struct PeerTests {
    @Test("C3: a state is seen by another process, and what that one sets is seen here")
    func sharedByProcesses() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("c3")
        try client.setState(token, 1 << 63)
        let read = try bus.station.run(["notify", "-g", "c3"])
        #expect(read.output == "c3 9223372036854775808\n")
        let other = try bus.station.start(["notify", "-w", "c3", "-s", "c3", "34", "-p", "c3"])
        #expect(try eventually { try client.state(token) == 34 })
        #expect(try eventually { try client.check(token) })
        other.signal(15)
        _ = other.finish()
        #expect(try client.state(token) == 34)
    }

    @Test("G3: a process that is killed is gone from the bus at once")
    func killed() throws {
        let bus = try Bus()
        let client = try bus.client()
        var slowest: UInt64 = 0
        for round in 0..<5 {
            let name = "g3.\(round)"
            let program = try bus.station.start(["notify", "-w", name])
            #expect(try eventually { try client.list(prefix: name).count == 1 })
            let start = Clock.system.boot()
            program.signal(9)
            while try !client.list(prefix: name).isEmpty {
                if Clock.system.boot() - start > 30_000_000_000 { break }
            }
            slowest = max(slowest, Clock.system.boot() - start)
            _ = program.finish()
        }
        tell("registrations gone after kill -9: \(Double(slowest) / 1e6) ms (goal 100)")
        #expect(slowest < 5_000_000_000)
    }

    @Test("G6: what a connection has is bound to its number, not to a process id")
    func notByProcessID() throws {
        // Two connections with one pid, and the same tokens on the wire.
        let bus = try Bus()
        let watcher = try bus.client()
        let one = try RawConnection(bus.path)
        let two = try RawConnection(bus.path)
        #expect(try one.ask([claim("g6", will: 9, linger: 300)]) == [0])
        let set = Operation.set(token: 1, state: 1)
        #expect(try two.ask([set]) == [NotifyStatus.invalidToken.rawValue])
        #expect(try two.ask([.cancel(token: 1)]) == [NotifyStatus.invalidToken.rawValue])
        #expect(try two.ask([claim("g6", will: nil, linger: 0)]) == [7])
        var plain = Registration(token: 1, name: "g6")
        plain.delivers = true
        #expect(try two.ask([.register(plain), set]) == [0, 7])
        #expect(try one.ask([set]) == [0])
        // Numbers are not used again.
        var numbers = Set(try watcher.connections().map(\.number))
        #expect(numbers.count == 3)
        for _ in 0..<20 {
            let more = try bus.client()
            #expect(numbers.insert(more.connection).inserted)
            more.close()
        }
    }

    private func claim(_ name: String, will: UInt64?, linger: UInt32) -> Operation {
        var wanted = Registration(token: 1, name: name)
        wanted.claims = true
        wanted.will = will
        wanted.linger = linger
        return .register(wanted)
    }
}
