import InternalNotification
import LinuxIO
import TestKit
import Testing

/// `intel peers` over time.
@Suite struct PeersTests {
    private func now() -> String {
        let time = Clock.system.wall()
        let fraction = String(time % 1_000_000_000)
        return "@\(time / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count)
            + fraction
    }

    /// Peers and states of a table, without the agent's own.
    private func states(_ text: String) -> [String] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 1, fields[0] != "intel.agent" else { return nil }
            return "\(fields[0]) \(fields[1])"
        }
    }

    private func feeder(_ station: Station, _ name: String) throws -> Program {
        try Program(["send", "--as", name], environment: station.environment, isFed: true)
    }

    @Test("a quiet peer was last seen when the bus heard it, not when something was last stored")
    func lastSeen() throws {
        let station = try Station()
        try station.startAgent()
        let quiet = try feeder(station, "quiet")
        func times() throws -> [String] {
            let outcome = try station.run(["peers", "--peer", "quiet", "-o", "json"])
            let peer = Array(outcome.output.utf8).withUnsafeBytes { INValue(json: $0) }
            return ["changed", "last_seen"].compactMap { peer[$0]?.stringValue }
        }
        let isLater = try eventually {
            let found = try times()
            return found.count == 2 && found[0] < found[1]
        }
        #expect(isLater)
        let before = try times()
        #expect(try eventually { try times()[1] > before[1] }, "nothing was sent meanwhile")
        quiet.endInput()
        #expect(quiet.finish().status == 0)
        #expect(station.signalAgent(15) == 0)
    }

    @Test("--at tells who was alive at a moment, of peers that came and went several times")
    func atAMoment() throws {
        let station = try Station()
        let before = now()
        try station.startAgent()
        func at(_ time: String, _ more: [String] = []) throws -> Program.Outcome {
            try station.run(["peers", "--at", time] + more)
        }
        func soon(_ wanted: [String], all: Bool = false) -> Bool {
            eventually {
                let found = try? at("now", all ? ["--all"] : [])
                return states(found?.output ?? "") == wanted
            }
        }
        var moments: [(time: String, alive: [String])] = []
        for round in 0..<3 {
            let one = try feeder(station, "one")
            #expect(soon(["one alive"]))
            moments.append((now(), ["one alive"]))
            let two = try feeder(station, "two")
            #expect(soon(["one alive", "two alive"]))
            moments.append((now(), ["one alive", "two alive"]))
            if round == 1 { one.signal(9) } else { one.endInput() }
            _ = one.finish()
            #expect(soon(["two alive"]))
            moments.append((now(), ["two alive"]))
            two.endInput()
            _ = two.finish()
            #expect(soon([]))
            moments.append((now(), []))
        }
        // The moments lie in the past now, and the answer is still theirs.
        #expect(station.signalAgent(15) == 0)
        for moment in moments {
            let outcome = try at(moment.time)
            #expect(states(outcome.output) == moment.alive, "\(outcome.output)")
            #expect(outcome.status == 0 && outcome.error.isEmpty)
        }
        let all = try at(moments[7].time, ["--all", "--peer", "one"])
        #expect(states(all.output) == ["one left", "one died"], "\(all.output)")
        let json = try at(moments[0].time, ["-o", "json", "--peer", "one"])
        #expect(json.output.hasPrefix(#"{"peer":"one","epoch":"#), "\(json.output)")
        let early = try at(before)
        #expect(early.status == 5 && early.output.isEmpty)
        #expect(early.error.contains("the history begins at"))
        #expect(try at("now").error.contains("the agent was not running then"))
        #expect(try at("yesteryear").status == 2)
        #expect(try at("now", ["--watch"]).status == 2)
    }

    @Test("--watch shows each change, parted by an empty line, and ends with 0 on SIGINT")
    func watching() throws {
        let station = try Station()
        try station.startAgent()
        let watcher = try station.start(["peers", "--watch", "--all", "--utc"])
        func shows(_ state: String) -> Bool {
            eventually {
                let last = watcher.outputSoFar.split(separator: "\n\n").last ?? ""
                return states(String(last)).contains(state)
            }
        }
        #expect(eventually { watcher.outputSoFar.hasPrefix("PEER ") })
        let peer = try feeder(station, "guest")
        #expect(shows("guest alive"))
        peer.endInput()
        #expect(peer.finish().status == 0)
        #expect(shows("guest left"))
        watcher.signal(2)
        let outcome = watcher.finish()
        #expect(outcome.status == 0 && outcome.error.isEmpty)
        let tables = outcome.output.split(separator: "\n\n")
        #expect(tables.count >= 3 && tables.allSatisfy { $0.hasPrefix("PEER ") })
        #expect(!outcome.output.contains("\u{1b}"))
    }
}
