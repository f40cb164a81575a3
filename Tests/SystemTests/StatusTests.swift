import InternalNotification
import LinuxIO
import TestKit
import Testing

/// `intel status` beside a real agent: running, stopped in its tracks, killed.
@Suite struct StatusTests {
    private func report(_ station: Station) throws -> INValue {
        let outcome = try station.run(["status", "-o", "json"])
        #expect(outcome.status == 0, "\(outcome.error)")
        let json = Array(outcome.output.utf8).withUnsafeBytes { INValue(json: $0) }
        return json["agent"] ?? .null
    }

    @Test func aRunningAgentTellsOfItself() throws {
        let station = try Station()
        try station.startAgent()
        #expect(try station.run(["send"], input: Array("one\ntwo\n".utf8)).status == 0)
        let isTold = eventually {
            (try? report(station)["report"]?["stored"]?.intValue ?? 0) ?? 0 >= 2
        }
        #expect(isTold)
        let agent = try report(station)
        #expect(agent["running"] == true && agent["pid"]?.intValue == Int(station.agentPid))
        #expect(agent["report"]?["bus"]?["attached"] == true)
        #expect((agent["report"]?["resident_bytes"]?.intValue ?? 0) > 1 << 20)
        #expect(agent["warnings"] == [])
        // The bus that it hosts: the agent itself is there, with names of its own.
        let broker = { try report(station)["report"]?["bus"]?["broker"] ?? .null }
        #expect(try eventually { try broker()["names"]?.intValue ?? 0 > 10 })
        #expect(try broker()["connections"]?.intValue ?? 0 > 0)
        #expect(try broker()["posts"]?.intValue ?? 0 > 0)
        #expect(try broker()["memory_bytes"]?.intValue ?? 0 > 32 << 10)
        #expect(try station.run(["status", "-o", "prometheus"]).output.contains("intel_up 1\n"))
        // An agent that was killed leaves its socket behind; the next one takes the place.
        _ = station.signalAgent(9)
        #expect(try report(station)["running"] == false)
        try station.startAgent()
        #expect(try report(station)["report"]?["pid"]?.intValue == Int(station.agentPid))
        #expect(station.signalAgent(15) == 0)
        #expect(!Files.exists(station.folder.file("spool/agent.sock")))
        #expect(!Files.exists(station.folder.file("spool/hot.db-wal")), "the last one closes it")
    }

    @Test("every number that the agent tells of itself is in the metrics too")
    func metrics() throws {
        let station = try Station()
        try station.startAgent()
        #expect(eventually { (try? report(station)["report"]?["bus"]?["broker"]) != nil })
        let told = try report(station)["report"] ?? .null
        let page = try station.run(["status", "-o", "prometheus"]).output
        // A process id is no figure, a rate is made of a counter, peers have figures of their own.
        let others = ["pid", "stored_per_second", "peers_alive"]
        for (prefix, part) in [("", told), ("bus_", told["bus"]?["broker"] ?? .null)] {
            var members: [INValue.Member] = []
            if case .object(let found) = part { members = found }
            #expect(members.count > 5)
            for member in members where member.value.intValue != nil {
                if others.contains(member.key) { continue }
                let name = "intel_\(prefix)\(member.key)"
                let isThere = page.contains("\n\(name) ") || page.contains("\n\(name)_total ")
                #expect(isThere, "\(name)")
            }
        }
        #expect(station.signalAgent(15) == 0)
    }

    @Test("an agent that is stopped in its tracks is told, and the spool is shown all the same")
    func aStoppedAgent() throws {
        let station = try Station()
        let agent = try Program(["agent"], environment: station.environment)
        #expect(eventually { agent.errorSoFar.contains("collecting") })
        agent.signal(19)
        let text = try station.run(["status"])
        #expect(text.status == 0 && text.output.contains("warning  the agent does not answer"))
        #expect(text.output.contains("records  "))
        agent.signal(18)
        agent.signal(15)
        #expect(agent.finish().status == 0)
    }

    @Test("a spool folder with a path longer than a socket's name")
    func longPath() throws {
        let folder = try TemporaryFolder()
        let spool = folder.file(String(repeating: "long-", count: 40))
        let environment = ["INTEL_BUS": folder.file("b"), "INTEL_SPOOL": spool]
        let agent = try Program(["agent"], environment: environment)
        #expect(eventually { agent.errorSoFar.contains("collecting") })
        let status = try Program.run(["status"], environment: environment)
        #expect(status.output.contains("intake"), "\(status) \(agent.errorSoFar)")
        agent.signal(15)
        #expect(agent.finish().status == 0)
    }
}
