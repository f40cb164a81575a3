import LinuxIO
import TestKit
import Testing

/// Who is alive: from the kernel, and told apart.
@Suite struct PresenceTests {
    private func changes(_ station: Station, of peer: String) throws -> [String] {
        let outcome = try station.run(["query", "--kind", "intel.presence", "-o", "json"])
        return try Exported.read(outcome.output).compactMap { record in
            guard record.payload.contains("\"peer\":\"\(peer)\"") else { return nil }
            return record.payload.split(separator: "\"").dropFirst(2).first.map(String.init)
        }
    }

    @Test("stop is left, kill -9 is died, SIGSTOP is lost and SIGCONT brings it back")
    func goings() throws {
        let station = try Station()
        try station.startAgent()
        let leaver = try station.start(["host", "--every", "1s"])
        #expect(eventually { (try? changes(station, of: "intel.host")) == ["appeared"] })
        leaver.signal(15)
        #expect(leaver.finish().status == 0)
        #expect(eventually { (try? changes(station, of: "intel.host")) == ["appeared", "left"] })

        let victim = try Program(
            ["send", "--as", "victim"],
            environment: station.environment,
            isFed: true
        )
        #expect(eventually { (try? changes(station, of: "victim")) == ["appeared"] })
        victim.signal(9)
        #expect(victim.finish().status == 137)
        #expect(eventually { (try? changes(station, of: "victim")) == ["appeared", "died"] })

        let sleeper = try Program(
            ["send", "--as", "sleeper"],
            environment: station.environment,
            isFed: true
        )
        #expect(eventually { (try? changes(station, of: "sleeper")) == ["appeared"] })
        sleeper.signal(19)
        #expect(eventually(60) { (try? changes(station, of: "sleeper"))?.last == "lost" })
        sleeper.signal(18)
        #expect(eventually { (try? changes(station, of: "sleeper"))?.last == "reappeared" })
        #expect(try changes(station, of: "sleeper") == ["appeared", "lost", "reappeared"])
        sleeper.endInput()
        #expect(sleeper.finish().status == 0)
        #expect(station.signalAgent(15) == 0)
    }

    @Test("two live programs of one identifier are two instances")
    func twoInstances() throws {
        let station = try Station()
        try station.startAgent()
        var programs: [Program] = []
        for text in ["one", "two"] {
            let program = try Program(
                ["send", "--as", "twin"],
                environment: station.environment,
                isFed: true
            )
            try program.feed(Array("\(text)\n".utf8))
            programs.append(program)
        }
        #expect(eventually { (try? station.exported())?.count == 2 })
        for program in programs {
            program.endInput()
            #expect(program.finish().status == 0)
        }
        let records = try station.exported()
        #expect(Set(records.map(\.epoch)).count == 2)
        #expect(Set(records.map(\.pid)) == Set(programs.map { Int($0.pid) }))
        #expect(records.allSatisfy { $0.sequence == 1 && $0.peer == "twin" })
    }

    @Test("case 22: processes that send three records and exit keep their identity and pid")
    func shortLived() throws {
        let station = try Station()
        try station.startAgent()
        let count = 300
        var pids: [String: Int] = [:]
        for start in stride(from: 0, to: count, by: 20) {
            var running: [(String, Program)] = []
            for index in start..<start + 20 {
                let name = "burst.\(index)"
                let program = try station.start(
                    ["send", "--as", name, "--no-wait"],
                    input: Array("1\n2\n3\n".utf8)
                )
                pids[name] = Int(program.pid)
                running.append((name, program))
            }
            for (_, program) in running { #expect(program.finish().status == 0) }
        }
        #expect(eventually(60) { (try? station.exported())?.count == count * 3 })
        let records = try station.exported()
        for (name, pid) in pids {
            let own = records.filter { $0.peer == name }
            #expect(own.map(\.sequence) == [1, 2, 3] && own.allSatisfy { $0.pid == pid })
        }
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test("a second agent on the same spool is refused with the pid of the first")
    func secondAgent() throws {
        let station = try Station()
        try station.startAgent()
        let second = try station.run(["agent"])
        #expect(second.status == 2)
        #expect(second.error.contains("\(station.agentPid)"), "\(second.error)")
        #expect(station.signalAgent(15) == 0)
    }
}
