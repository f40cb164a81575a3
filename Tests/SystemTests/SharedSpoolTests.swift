import Glibc
import LinuxIO
import Telemetry
import TestKit
import Testing

/// Others at the agent's files: readers that stop, a shell that locks, a user with few rights.
@Suite(.serialized) struct SharedSpoolTests {
    /// Lines that no compressor makes much smaller, a thousand bytes each.
    private static func noise(_ count: Int) -> [String] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { number in
            var text = "\(number) "
            while text.utf8.count < 1000 {
                var bits: UInt64 = random.next()
                for _ in 0..<9 {
                    // Printable, and neither a quote nor a backslash.
                    let byte = UInt8(truncatingIfNeeded: bits & 127) % 90 + 35
                    text.unicodeScalars.append(Unicode.Scalar(byte == 92 ? 33 : byte))
                    bits >>= 7
                }
            }
            return text
        }
    }

    /// 24 MB, three times what a checkpoint waits for, from four programs at once.
    private func pressure(_ station: Station, _ name: String) throws {
        let senders = try (0..<4).map { part in
            let input = Self.noise(6000).flatMap { Array(($0 + "\n").utf8) }
            return try station.start(["send", "--as", "\(name).\(part)"], input: input)
        }
        for sender in senders { #expect(sender.finish().status == 0) }
    }

    /// Whether a process has a read mark in the index of the log: bytes 123 to 127 of -shm.
    private func holdsSnapshot(_ pid: Int32) throws -> Bool {
        let locks = String(decoding: try Files.contents("/proc/locks"), as: UTF8.self)
        return locks.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            guard words.count == 8, words[1] == "POSIX", Int32(words[4]) == pid,
                let first = Int(words[6])
            else { return false }
            return (123...127).contains(first)
        }
    }

    @Test("case 11, trap 1: a stopped follower and a paused export hold no log; sqlite3 does, told")
    func pinnedLog() throws {
        let station = try Station()
        try station.startAgent()
        try station.send(Self.noise(3000), as: "before")
        let follower = try station.start(["query", "-f", "-o", "cat"])
        #expect(eventually { follower.outputSoFar.utf8.count > 1000 })
        // Not in the midst of the milliseconds in which it asks.
        let isStopped = try eventually {
            follower.signal(19)
            if try !holdsSnapshot(follower.pid) { return true }
            follower.signal(18)
            return false
        }
        #expect(isStopped)
        // An export into a pipe that nobody reads.
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        let unread = FileDescriptor(owning: pipe.read)
        let end = FileDescriptor(owning: pipe.write)
        var export = try Child(
            Program.path,
            ["export"],
            environment: station.environment,
            output: end.raw
        )
        #expect(eventually { Descriptor.isReadable(unread.raw, milliseconds: 0) })
        // It waits for its reader, between two batches as between two records of one.
        #expect(try eventually { try !holdsSnapshot(export.pid) })
        try pressure(station, "readers")
        #expect(try !holdsSnapshot(export.pid) && !holdsSnapshot(follower.pid))
        #expect(export.poll() == nil)
        #expect(try station.metric("intel_log_held_bytes") == 0)
        let most = Limits.walBytesMax + 2 * Limits.checkpointBytes
        #expect(Files.size(station.hot + "-wal") < Int64(most))
        export.signal(9)
        guard SQLiteTool.path != nil else { return }

        let tool = try SQLiteTool(station.hot)
        try tool.say("BEGIN; SELECT count(*) FROM batch;")
        #expect(try holdsSnapshot(tool.pid))
        try pressure(station, "pinned")
        #expect(eventually { (try? station.metric("intel_log_held_bytes")) ?? 0 > 8 << 20 })
        #expect(try station.status(says: "a reader of hot.db holds back"))
        #expect(try station.metric("intel_checkpoints_held_total") > 0)
        #expect(try station.metric("intel_log_bytes") > 8 << 20)
        tool.end()
        #expect(eventually { (try? station.metric("intel_log_held_bytes")) == 0 })
        #expect(try !station.status(says: "a reader of hot.db holds back"))
        follower.signal(18)
        follower.signal(9)
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 14: somebody locks the spool: records wait, it is told and counted, none is lost")
    func locked() throws {
        guard SQLiteTool.path != nil else { return }
        let station = try Station()
        try station.startAgent()
        let tool = try SQLiteTool(station.hot)
        try tool.say(".timeout 20000\nBEGIN EXCLUSIVE;")
        let lines = (1...5000).map { "line \($0)\n" }.joined()
        let sender = try station.start(
            ["send", "--as", "waits", "--timeout", "120s"],
            input: Array(lines.utf8)
        )
        #expect(eventually { station.agentSaid.contains("database is locked") })
        #expect(eventually { (try? station.status(says: "commits fail")) ?? false })
        #expect(try station.metric("intel_commits_failed_total") > 0)
        // Bounded: what does not fit the next commit stays with its sender.
        #expect(try station.metric("intel_waiting_bytes") <= 3 << 20)
        #expect(!sender.hasEnded())
        try tool.say("COMMIT;")
        tool.end()
        #expect(sender.finish().status == 0)
        #expect(eventually { (try? station.status(says: "commits fail")) == false })
        #expect(try station.metric("intel_commits_failed_total") > 0)
        #expect(station.signalAgent(15) == 0)
        try station.startAgent()
        let expected = (1...5000).map { #"{"message":"line \#($0)"}"# }
        #expect(try station.lines(of: "waits") == expected)
        #expect(try station.run(["losses"]).status == 0)
        #expect(station.signalAgent(15) == 0)
    }

    /// Runs a program as nobody, who is in the group of that name alone.
    private func asNobody(
        _ station: Station,
        _ program: String,
        _ arguments: [String]
    ) throws -> (status: Int32, output: String, error: String) {
        let (out, err) = (station.folder.file("out"), station.folder.file("err"))
        let output = try Files.create(out)
        let error = try Files.create(err)
        var child = try Child(
            "/usr/bin/setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", program] + arguments,
            environment: station.environment,
            output: output.raw,
            error: error.raw
        )
        guard case .exited(let status) = child.wait() else { return (-1, "", "") }
        let printed = String(decoding: try Files.contents(out), as: UTF8.self)
        return (status, printed, String(decoding: try Files.contents(err), as: UTF8.self))
    }

    @Test(
        "case 21: a reader without the right to write reads, or is told which right it lacks",
        .enabled(
            if: Environment.uid == 0 && Files.exists("/usr/bin/setpriv"),
            "needs root and setpriv, to become somebody else: NOT RUN"
        )
    )
    func unprivileged() throws {
        let station = try Station()
        let spool = station.folder.file("spool")
        chmod(station.folder.path, 0o755)
        let program = station.folder.file("intel")
        try Files.copy(Program.path, to: program)
        chmod(program, 0o755)
        let query = ["query", "-n", "5", "--kind", "line", "-o", "cat"]
        try station.startAgent()
        try station.send((1...9).map { "line \($0)" }, as: "p")
        // No right at all.
        let stranger = try asNobody(station, program, query)
        #expect(stranger.status == 4 && stranger.error.contains("no right to read the folder"))
        #expect(stranger.error.contains("member of the folder's group"))
        // A member of its group, with the agent running, stopped, and running again.
        chown(spool, 0, 65534)
        for isRunning in [true, false, true] {
            if isRunning, station.agentPid == 0 { try station.startAgent() }
            if !isRunning { #expect(station.signalAgent(15) == 0) }
            let found = try asNobody(station, program, query)
            #expect(found.status == 0, "\(isRunning): \(found.error)")
            #expect(found.output.split(separator: "\n").count == 5)
            if isRunning, let tool = SQLiteTool.path {
                let arguments = ["-readonly", station.hot, "SELECT count(*) > 0 FROM batch"]
                #expect(try asNobody(station, tool, arguments).output == "1\n")
            }
        }
        try station.send(["one more"], as: "p")
        // Killed, and its index gone: the log can be read by nobody who may not write there.
        #expect(station.signalAgent(9) == 137)
        try Files.remove(station.hot + "-shm")
        let killed = try asNobody(station, program, query)
        #expect(killed.status == 4 && killed.error.contains("no right to write into the folder"))
        #expect(killed.error.contains("start the agent") && !killed.error.contains("sqlite"))
        chmod(station.hot, 0o600)
        let hidden = try asNobody(station, program, query)
        #expect(hidden.status == 4 && hidden.error.contains("no right to read 'hot.db'"))
    }
}
