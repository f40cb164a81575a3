import Dispatch
import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// H: descriptors and memory do not grow with rounds, in the client or in the broker.
///
/// Each test is a process of its own, as the figures are those of a whole process.
@Suite(.serialized) struct FlatTests {
    /// What two processes hold.
    private struct Figures {
        var client: Int
        var broker: Int
        var clientDescriptors: Int
        var brokerDescriptors: Int

        init(_ bus: Bus) {
            let (own, other) = (Environment.pid, bus.station.busPid)
            client = ProcessFigures.ownBytes(own)
            broker = ProcessFigures.residentBytes(other)
            clientDescriptors = ProcessFigures.descriptors(own)
            brokerDescriptors = ProcessFigures.descriptors(other)
        }
    }

    /// Runs rounds, a tenth of them to settle, and compares.
    private static func expectFlat(
        _ what: String,
        _ bus: Bus,
        rounds: Int,
        _ body: (Int) throws -> Void
    ) throws {
        for round in 0..<rounds / 10 { try body(round) }
        let first = Figures(bus)
        for round in 0..<rounds { try body(round) }
        // The broker learns of a closed connection a moment later.
        #expect(eventually { Figures(bus).brokerDescriptors <= first.brokerDescriptors })
        let last = Figures(bus)
        let grown = (last.client - first.client, last.broker - first.broker)
        tell(
            "\(what), \(rounds) rounds: client \(grown.0 >> 10) KiB, broker \(grown.1 >> 10) KiB "
                + "more, descriptors \(last.clientDescriptors) and \(last.brokerDescriptors)"
        )
        #expect(last.clientDescriptors <= first.clientDescriptors)
        #expect(grown.0 < 4 << 20 && grown.1 < 4 << 20)
    }

    @Test("H: registrations of every kind, posts, states and cancels leave nothing")
    func calls() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let bus = try Bus()
            let client = try bus.client()
            let queue = DispatchQueue(label: "flat")
            try Self.expectFlat("calls", bus, rounds: Rounds.count(10_000, long: 1_000_000)) {
                let name = ($0 % 2 == 0 ? "flat." : "self.flat.") + "\($0 % 100)"
                let tokens = [
                    try client.registerCheck(name),
                    try client.registerDispatch(name, queue: queue) { _ in },
                    try client.registerHandler(name) { _ in },
                    try client.registerFileDescriptor(name).token,
                ]
                try client.setAndPost(tokens[0], 5)
                try client.suspend(tokens[1])
                try client.post(name)
                for token in tokens { try client.cancel(token) }
            }
        }
        tellAgain(ended)
    }

    @Test("H: claims with wills and pools leave nothing")
    func claims() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let bus = try Bus()
            let client = try bus.client()
            let words = [UInt64](repeating: 7, count: 4096)
            try Self.expectFlat("claims", bus, rounds: Rounds.count(2000)) { _ in
                let pool = try client.claimPool("flat.pool", count: 4096)
                let claim = try client.claim("flat.claim", ClaimOptions(will: 1, deadline: 5000))
                var batch = NotifyBatch()
                batch.poolWrite(pool, at: 0, words: words)
                batch.post(claim)
                try client.write(batch, quiet: false)
                try client.cancel(pool)
                try client.cancel(claim)
            }
        }
        tellAgain(ended)
    }

    @Test("H: clients that come and go leave nothing")
    func connections() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let bus = try Bus()
            try Self.expectFlat("clients", bus, rounds: Rounds.count(300, long: 10_000)) { _ in
                let client = try NotifyClient(path: bus.path)
                _ = try client.registerHandler("flat") { _ in }
                _ = try client.registerFileDescriptor("self.flat")
                _ = try client.claim("flat.\(client.connection)", ClaimOptions(will: 3))
                try client.post("flat")
                client.close()
            }
        }
        tellAgain(ended)
    }
}
