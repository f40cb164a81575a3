import Basics
import LinuxIO
import Spool
import Telemetry
import Testing

@testable import Commands

/// What `intel status` makes of an agent's answer, a silent agent, and none.
@Suite struct StatusTests {
    private let answer = Array(
        #"""
        {"uptime_seconds":93784,"resident_bytes":12582912,"durability":"full",
        "bus":{"path":"/run/b.sock","channel":"intel","hosted":true,"attached":false,
        "broker":{"connections":4,"names":1300,"memory_bytes":40960,"posts":99,"refused":5,
        "over_quota":2,"malformed":1}},
        "stored":1204,"stored_per_second":7,"commits":3,"duplicates":2,"malformed":0,
        "waiting_bytes":2048,"commits_in_flight":1,"warnings":["no bus answers\u001b"]}
        """#.utf8
    )

    private func status(_ agent: AgentAnswer) -> Status {
        var state = PeerState(instance: PeerInstance(identifier: "a\"b\\", epoch: 1))
        (state.sent, state.stored, state.dropped) = (10, 7, 1)
        var older = state
        older.instance.epoch = 2
        older.presence = .died
        return Status(folder: "/s", agent: agent, summary: SpoolSummary(), peers: [state, older])
    }

    @Test func anAnswerInWords() {
        let text = status(AgentAnswer(pid: 812, answer: answer)).text(.utc)
        #expect(text.contains("running, pid 812, up 1d 2h, 12 MB of memory\n"))
        #expect(text.contains("hosted at /run/b.sock (away), channel intel\n"))
        #expect(text.contains("         4 clients, 1,300 names, 40 KB of registers\n"))
        #expect(text.contains("         99 posts, 5 refused, 2 over quota, 1 malformed\n"))
        #expect(text.contains("7/s, 1,204 stored since the start, 2 came twice"))
        #expect(text.contains("2.0 KB waiting, 1 commits on their way, 3 done (full)\n"))
        #expect(text.contains("warning  no bus answers\\x1b\n"), "no escape reaches a terminal")
    }

    @Test func aSilentAgentIsAWarning() {
        for agent in [
            AgentAnswer(pid: 812, answer: nil, silence: "connect: no"),
            AgentAnswer(pid: 812, answer: Array("[1]".utf8)),
            AgentAnswer(pid: 812, answer: Array("{".utf8)),
        ] {
            let text = status(agent).text(.utc)
            #expect(text.contains("agent    running, pid 812\n"))
            #expect(text.contains("warning  the agent does not answer: "))
            #expect(status(agent).json.contains(#""warnings":["the agent does not"#))
        }
        #expect(status(AgentAnswer(pid: nil, answer: nil)).text(.utc).contains("not running\n"))
    }

    @Test func everyFormIsValid() throws {
        for agent in [
            AgentAnswer(pid: 812, answer: answer), AgentAnswer(pid: nil, answer: nil),
        ] {
            let json = Array(status(agent).json.utf8)
            try json.withUnsafeBytes { _ = try JSONScanner.validate($0) }
        }
    }

    @Test func metricsSumUpTheRunsOfAProgram() {
        let text = StatusMetrics(status(AgentAnswer(pid: 812, answer: answer))).text
        #expect(text.contains("# TYPE intel_up gauge\nintel_up 1\n"))
        #expect(text.contains("intel_stored_total 1204\n"))
        #expect(text.contains("intel_bus_attached 0\n"))
        #expect(
            text.contains("intel_bus_names 1300\n") && text.contains("intel_bus_posts_total 99")
        )
        #expect(text.contains(#"intel_peers{state="died"} 1"# + "\n"))
        #expect(text.contains(#"intel_peer_missing{peer="a\"b\\"} 4"# + "\n"))
        #expect(text.contains(#"intel_peer_alive{peer="a\"b\\"} 1"# + "\n"))
        for line in text.split(separator: "\n") where !line.hasPrefix("# ") {
            #expect(line.split(separator: " ").last.flatMap { UInt64($0) } != nil, "\(line)")
        }
        #expect(StatusMetrics(status(AgentAnswer(pid: nil, answer: nil))).text.contains("up 0\n"))
    }

    @Test func spansInShort() {
        let spans: [(UInt64, String)] = [
            (0, "0s"), (59, "59s"), (65, "1m 5s"), (3600, "1h 0m"), (93_784, "1d 2h"),
        ]
        for (seconds, text) in spans { #expect(DurationText.short(seconds) == text) }
    }
}
