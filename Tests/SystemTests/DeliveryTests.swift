import LinuxIO
import TestKit
import Testing

/// Every line once, byte for byte, in order, whatever is killed meanwhile.
@Suite(.serialized) struct DeliveryTests {
    /// What is killed while the senders send.
    enum Victim: String, CaseIterable, CustomTestStringConvertible {
        case nobody, agent, broker
        var testDescription: String { rawValue }
    }

    @Test(
        "eight senders at once: every line once, byte for byte, in order",
        arguments: Victim.allCases
    )
    func everyLineOnce(victim: Victim) throws {
        let station = try Station()
        if victim == .broker { try station.startBus() }
        let mode = victim == .broker ? ["--bus-mode", "external"] : []
        try station.startAgent(mode)
        let sources = (0..<8).map { SampleLines.make(3000, seed: UInt64($0) + 1) }
        var senders: [Feeder] = []
        for (index, lines) in sources.enumerated() {
            senders.append(try Feeder(station, "peer.\(index)", lines, isSlow: victim != .nobody))
        }
        var kills = 0
        while victim != .nobody, kills < 20 {
            for sender in senders { try sender.feed(150) }
            let pause = try Wake()
            pause.wait(nanoseconds: UInt64.random(in: 20_000_000...120_000_000))
            if victim == .agent {
                #expect(station.signalAgent(9) == 137)
                try station.startAgent(mode)
            } else {
                station.killBus()
                try station.startBus()
            }
            kills += 1
        }
        for sender in senders {
            try sender.feed(.max)
            let outcome = sender.finish()
            #expect(outcome.status == 0, "\(outcome.error)")
        }
        let records = try station.exported()
        for (index, lines) in sources.enumerated() {
            let own = records.filter { $0.peer == "peer.\(index)" }
            #expect(own.map(\.sequence) == Array(1...lines.count))
            #expect(own.map(\.payload) == lines.map(SampleLines.payload))
        }
        let losses = try station.run(["losses"])
        #expect(losses.status == 0, "\(losses.output)")
        #expect(station.signalAgent(15) == 0)
    }
}

/// `intel send` fed through a pipe, so that it is in the middle of its work when something is
/// killed.
final class Feeder {
    private let program: Program
    private var rest: ArraySlice<String>

    init(_ station: Station, _ identifier: String, _ lines: [String], isSlow: Bool) throws {
        program = try Program(
            ["send", "--as", identifier, "--timeout", "120s"],
            environment: station.environment,
            isFed: true
        )
        rest = lines[...]
        if !isSlow { try feed(.max) }
    }

    /// Writes the next lines; at the end of them closes the pipe.
    func feed(_ count: Int) throws {
        let part = rest.prefix(count)
        rest = rest.dropFirst(part.count)
        try program.feed(Array(part.map { $0 + "\n" }.joined().utf8))
        if rest.isEmpty { program.endInput() }
    }

    func signal(_ number: Int32) { program.signal(number) }

    func finish() -> Program.Outcome { program.finish() }
}
