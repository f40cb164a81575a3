import TestKit
import Testing

/// `intel send` of the real program, where it does not wait until its lines are stored.
struct SendTests {
    /// More than a ring takes: nothing in them repeats.
    private let lines: [UInt8] = {
        var random = SystemRandomNumberGenerator()
        let words = (0..<20_000).map { _ in String(random.next(), radix: 36) + "\n" }
        return Array(words.joined().utf8)
    }()

    private let many = ["send", "--as", "many", "--no-wait", "--timeout"]

    @Test("--no-wait without a bus: what was not sent is told, and the exit status is 2")
    func noBus() throws {
        let station = try Station()
        let outcome = try station.run(
            ["send", "--no-wait", "--timeout", "100ms"],
            input: Array("one\ntwo\n".utf8)
        )
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("2 of 2 lines not sent"), "\(outcome.error)")
        #expect(outcome.error.contains("no bus answers"), "\(outcome.error)")
    }

    @Test("--no-wait with nobody who reads: lines in the ring + lines told as not sent = all")
    func fullRing() throws {
        let station = try Station()
        try station.startBus()
        let few = try station.run(["send", "--no-wait"], input: Array("one\ntwo\n".utf8))
        #expect(few.status == 0, "\(few.error)")
        let outcome = try station.run(many + ["60s"], input: lines)
        #expect(outcome.error.contains("no agent collects"), "\(outcome.error)")
        let wanted = 20_000 - (try unsent(outcome))
        try station.startAgent(["--bus-mode", "external"])
        let count = ["query", "--peer", "many", "--count", "-q"]
        #expect(try eventually(60) { try station.run(count).output == "\(wanted)\n" })
        #expect(station.signalAgent(15) == 0)
        station.killBus()
    }

    @Test("--no-wait beside an agent that stands still: stored later + told as not sent = all")
    func frozenAgent() throws {
        let station = try Station()
        try station.startBus()
        try station.startAgent(["--bus-mode", "external"])
        station.freezeAgent()
        let outcome = try station.run(many + ["1s"], input: lines)
        #expect(outcome.error.contains("does not read"), "\(outcome.error)")
        station.thawAgent()
        let wanted = 20_000 - (try unsent(outcome))
        let count = ["query", "--peer", "many", "--count", "-q"]
        #expect(try eventually(60) { try station.run(count).output == "\(wanted)\n" })
        // The agent knows as well.
        #expect(station.signalAgent(15) == 0)
        let losses = try station.run(["losses"])
        let books = losses.output.filter { $0 != "," }
        #expect(books.contains("\(wanted + 1)-20000 (\(20_000 - wanted))"), "\(losses)")
        station.killBus()
    }

    /// How many lines the program says it has not sent.
    private func unsent(_ outcome: Program.Outcome) throws -> Int {
        #expect(outcome.status == 2)
        let told = outcome.error.split(separator: " of 20000 lines not sent").first
        return try #require(told?.split(separator: " ").last.flatMap { Int($0) })
    }
}
