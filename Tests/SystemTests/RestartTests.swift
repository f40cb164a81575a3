import Dispatch
import InternalNotification
import LinuxIO
import TestKit
import Testing

/// What an agent and its peers know of each other after they were killed, stopped, or late.
@Suite struct RestartTests {
    private func lines(_ count: Int, _ word: String) -> [String] {
        (0..<count).map { "\(word) \($0)" }
    }

    private func payloads(_ station: Station, _ peer: String) throws -> [String] {
        try station.exported().filter { $0.peer == peer }.map(\.payload)
    }

    @Test("agent and peer are killed and started together: the new run is not told the old one's")
    func bothKilled() throws {
        let station = try Station()
        try station.startAgent()
        let old = try Feeder(station, "x", lines(2000, "old"), isSlow: true)
        try old.feed(1000)
        #expect(eventually { (try? station.run(["query", "--count"]).output) ?? "" >= "1000" })
        #expect(station.signalAgent(9) == 137)
        old.signal(9)
        _ = old.finish()
        try station.startAgent()
        let new = try Feeder(station, "x", lines(30, "new"), isSlow: true)
        try new.feed(10)
        // The agent gives the old run up when it has not been seen for as long as makes one lost.
        let isGivenUp = eventually(30) {
            (try? station.run(["peers", "--all"]).output.contains("died")) ?? false
        }
        #expect(isGivenUp)
        try new.feed(.max)
        let outcome = new.finish()
        #expect(outcome.status == 0, "\(outcome.error)")
        let expected = lines(30, "new").map { #"{"message":"\#($0)"}"# }
        #expect(try payloads(station, "x").filter { $0.contains("new") } == expected)
        #expect(try station.run(["losses"]).status == 0)
        #expect(station.signalAgent(15) == 0)
    }

    @Test("a sender that is stopped while the agent is started again goes on when it wakes")
    func sleepingSender() throws {
        let station = try Station()
        try station.startBus()
        try station.startAgent(["--bus-mode", "external"])
        let all = SampleLines.make(4000, seed: 3)
        let sender = try Feeder(station, "sleeper", all, isSlow: true)
        try sender.feed(2000)
        #expect(eventually { (try? station.run(["peers"]).output.contains("sleeper")) ?? false })
        sender.signal(19)
        #expect(station.signalAgent(9) == 137)
        try station.startAgent(["--bus-mode", "external"])
        // It has been met, and all that is in its ring was read, before it wakes.
        #expect(eventually { (try? station.run(["peers"]).output.contains("sleeper")) ?? false })
        let pause = try Wake()
        pause.wait(nanoseconds: 1_000_000_000)
        sender.signal(18)
        try sender.feed(.max)
        let outcome = sender.finish()
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try payloads(station, "sleeper") == all.map(SampleLines.payload))
        #expect(try station.run(["losses"]).status == 0)
        #expect(station.signalAgent(15) == 0)
        station.killBus()
    }

    @Test(
        "a sender that sleeps while the bus is started again is taken for dead, and lives once more"
    )
    func sleepingThroughRestart() throws {
        let station = try Station()
        try station.startBus()
        try station.startAgent(["--bus-mode", "external"])
        let all = SampleLines.make(2000, seed: 4)
        let sender = try Feeder(station, "sleeper", all, isSlow: true)
        func count() throws -> String {
            try station.run(["query", "--kind", "line", "--count"]).output
        }
        try sender.feed(500)
        #expect(try eventually { try count() == "500\n" })
        sender.signal(19)
        station.killBus()
        try station.startBus()
        #expect(try eventually(30) { try station.run(["peers", "--all"]).output.contains("died") })
        sender.signal(18)
        try sender.feed(.max)
        let outcome = sender.finish()
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try payloads(station, "sleeper") == all.map(SampleLines.payload))
        #expect(try station.run(["losses"]).status == 0)
        #expect(station.signalAgent(15) == 0)
        station.killBus()
    }

    @Test("peers that ended while the agent was busy are read to the end before it stops")
    func endedPeers() throws {
        let station = try Station()
        try station.startBus()
        let agent = try Program(
            ["agent", "--bus-mode", "external"],
            environment: station.environment
        )
        #expect(eventually { agent.errorSoFar.contains("collecting") })
        agent.signal(19)
        // Together more than one commit takes; all within the time that names outlive a program.
        let text = (0..<2000).map { "line \($0) " + String(repeating: "x", count: 90) + "\n" }
        let input = Array(text.joined().utf8)
        let senders = try (0..<8).map { number in
            try station.start(
                ["send", "--no-wait", "--timeout", "60s", "--as", "p\(number)"],
                input: input
            )
        }
        for sender in senders { #expect(sender.finish().status == 0) }
        agent.signal(15)
        agent.signal(18)
        #expect(agent.finish().status == 0)
        for number in 0..<8 {
            let peer = ["--peer", "p\(number)", "--kind", "line", "--count"]
            let outcome = try station.run(["query"] + peer)
            #expect(outcome.output == "2000\n", "p\(number): \(outcome) \(agent.errorSoFar)")
        }
        #expect(try station.run(["losses"]).status == 0)
        station.killBus()
    }

    @Test("a bus that stands still until its socket is full loses nothing of what is sent to it")
    func frozenBus() throws {
        let station = try Station()
        try station.startBus()
        let config = INAppConfig(identifier: "patient", busPath: station.busPath)
        let center = INCenter(
            identifier: "intel",
            config: config,
            callbackQueue: DispatchQueue(label: "patient")
        )
        let messenger = center.messenger
        #expect(eventually { messenger.statistics.isAttached })
        station.freezeBus()
        // With nobody to acknowledge, a batch leaves three times a second; packed it stays large.
        var random = SystemRandomNumberGenerator()
        var sent: UInt64 = 0
        for _ in 0..<20 {
            for _ in 0..<50 {
                let text = (0..<16).map { _ in String(random.next(), radix: 16) }.joined()
                messenger.send([INMessage(kind: "k", payload: .string(text))])
                sent += 1
            }
            try Wake().wait(nanoseconds: 200_000_000)
        }
        station.thawBus()
        try station.startAgent(["--bus-mode", "external"])
        #expect(eventually { messenger.statistics.stored == sent }, "\(messenger.statistics)")
        center.stop()
        #expect(station.signalAgent(15) == 0)
        station.killBus()
        #expect(try station.exported().filter { $0.peer == "patient" }.count == Int(sent))
        #expect(try station.run(["losses"]).status == 0)
    }
}
