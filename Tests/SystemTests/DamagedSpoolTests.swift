import LinuxIO
import TestKit
import Testing

/// A real agent on a spool that was damaged while it was away: cases 1, 2, 4, 5, 7, 8, 9 and 21 of
/// docs/traps.md.
@Suite(.serialized) struct DamagedSpoolTests {
    private func texts(_ range: ClosedRange<Int>) -> [String] { range.map { "line \($0)" } }
    private func stored(_ range: ClosedRange<Int>) -> [String] {
        range.map { #"{"message":"line \#($0)"}"# }
    }

    private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        let file = try Files.create(path)
        try Descriptor.write(file.raw, bytes)
    }

    /// What stands in the spool's folder under a dated name.
    private func aside(_ station: Station) -> [String] {
        Files.names(in: station.folder.file("spool")).filter { $0.hasPrefix("damaged-2") }
    }

    /// What the agent has recorded of damages.
    private func damages(_ station: Station) throws -> [Substring] {
        let found = try station.run(["query", "-n", "all", "--kind", "intel.damage", "-o", "cat"])
        return found.output.split(separator: "\n")
    }

    @Test("case 1: killed in a commit, its log cut: it starts, tells, stores, and can be stopped")
    func cutLog() throws {
        let station = try Station()
        try station.startAgent()
        let all = SampleLines.make(4000, seed: 2)
        let sender = try Feeder(station, "peer.0", all, isSlow: true)
        try sender.feed(3000)
        #expect(eventually { (try? station.lines(of: "peer.0").count) ?? 0 == 3000 })
        try sender.feed(500)
        #expect(station.signalAgent(9) == 137)
        var log = try Files.contents(station.hot + "-wal")
        log.removeLast(4096)
        try overwrite(station.hot + "-wal", log)
        try station.startAgent()
        #expect(station.agentSaid.contains("collecting"))
        // The sender is there still: what the log had of it last is missing, or comes again.
        try sender.feed(.max)
        let outcome = sender.finish()
        #expect(outcome.status == 0, "\(outcome.error)")
        let found = try station.exported(["--peer", "peer.0"])
        for record in found {
            #expect(record.payload == SampleLines.payload(all[record.sequence - 1]))
        }
        #expect(station.agentSaid.contains("the log of hot.db breaks off"))
        #expect(try aside(station).count == 1 && damages(station).count == 1)
        // What it had been told of is missing now, to the number, and holds up nothing.
        let count = found.count
        #expect(count < 4000 && found.last?.sequence == 4000)
        let losses = try station.run(["losses"])
        #expect(losses.status == 1, "\(losses.output)")
        let peers = try station.run(["peers", "--all", "-o", "json"]).output
        #expect(peers.contains(#""missing":\#(4000 - count)"#), "\(peers)")
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 1: any page of hot.db overwritten: it starts, tells once, keeps the rest, stores")
    func lostPage() throws {
        let station = try Station()
        try station.startAgent()
        for peer in 1...4 {
            try station.send(texts(1...2500), as: "peer.\(peer)")
        }
        #expect(station.signalAgent(15) == 0)
        let bytes = try Files.contents(station.hot)
        // The table of peers, that of streams, an index, the list of batches, and the middle.
        for page in [0, 1, 2, 3, 4, 5, bytes.count / 8192 / 2] {
            var changed = bytes
            var random = SystemRandomNumberGenerator()
            for index in page * 8192..<page * 8192 + 4096 {
                changed[index] = UInt8.random(in: 0...255, using: &random)
            }
            try overwrite(station.hot, changed)
            try station.startAgent()
            #expect(station.agentSaid.contains("collecting"), "page \(page): \(station.agentSaid)")
            try station.send(["after \(page)"], as: "after")
            let count = try station.run(["query", "--count", "-q", "--kind", "line"]).output
            let left = Int(count.prefix { $0.isNumber }) ?? 0
            let isTold = station.agentSaid.contains("open spool")
            #expect(left >= 10_001 || isTold, "page \(page): \(left) \(station.agentSaid)")
            #expect(left > 7_500, "page \(page): \(left) \(station.agentSaid)")
            if isTold {
                #expect(try !damages(station).isEmpty)
                #expect(try station.status(says: "the spool was damaged when the agent started"))
            }
            #expect(station.signalAgent(15) == 0)
        }
        #expect(!aside(station).isEmpty && aside(station).count <= 8)
    }

    @Test("case 2: a batch of random bytes stops no agent; it is told once, the others are read")
    func badBatch() throws {
        guard SQLiteTool.path != nil else { return }
        let station = try Station()
        try station.startAgent()
        for round in 1...5 { try station.send(texts(1...100), as: "peer.\(round)") }
        #expect(station.signalAgent(15) == 0)
        let find = "SELECT id, n FROM batch WHERE n > 50 ORDER BY id LIMIT 1 OFFSET 2;"
        let row = try SQLiteTool.run(station.hot, find).split(separator: "|")
        #expect(row.count == 2)
        let change = "UPDATE batch SET data = randomblob(700) WHERE id = \(row[0]);"
        _ = try SQLiteTool.run(station.hot, change)
        try station.startAgent()
        try station.send(texts(1...10), as: "peer.6")
        let said = station.agentSaid.split(separator: "\n").filter { $0.contains("batch") }
        #expect(said.count == 1, "\(station.agentSaid)")
        #expect(said.first?.contains("batch \(row[0]): ") == true)
        #expect(said.first?.contains("\(row[1]) records are lost, of 2") == true, "\(said)")
        let outcome = try station.run(["query", "-n", "all", "--kind", "line", "-o", "cat"])
        #expect(outcome.status == 3 && outcome.error.contains("batch \(row[0])"))
        #expect(outcome.output.split(separator: "\n").count >= 510 - (Int(row[1]) ?? 0))
        #expect(try station.lines(of: "peer.6") == stored(1...10))
        let damage = try station.run(["query", "--kind", "intel.damage", "-o", "json"]).output
        #expect(damage.contains(#""records":\#(row[1]),"earliest":"2"#), "\(damage)")
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 4: a row of its books, its -shm or its lock is gone: nothing old is overwritten")
    func missingState() throws {
        guard SQLiteTool.path != nil else { return }
        let station = try Station()
        try station.startAgent()
        try station.send(texts(1...300), as: "old")
        #expect(station.signalAgent(9) == 137)
        try Files.remove(station.hot + "-shm")
        try Files.remove(station.folder.file("spool/lock"))
        try station.startAgent()
        try station.send(texts(1...20), as: "new")
        #expect(try station.lines(of: "old") == stored(1...300))
        #expect(station.signalAgent(15) == 0)
        _ = try SQLiteTool.run(station.hot, "DELETE FROM peer_state WHERE peer = 'old';")
        try station.startAgent()
        try station.send(texts(1...20), as: "newer")
        let lines = try station.exported(["--kind", "line"])
        #expect(lines.count == 340)
        #expect(lines.filter { $0.peer == "new" || $0.peer == "newer" }.count == 40)
        #expect(try station.run(["spool", "verify"]).status == 0)
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 5: files of NUL bytes or of none: it starts and warns once; not an empty history")
    func zeros() throws {
        let station = try Station()
        let spool = station.folder.file("spool")
        try Files.makeFolder(spool, mode: 0o750)
        for name in ["lock", "hot.db", "hot.db-wal", "hot.db-shm", "ballast"] {
            try overwrite(spool + "/" + name, [UInt8](repeating: 0, count: 128))
        }
        try station.startAgent()
        #expect(station.agentSaid.contains("collecting"), "\(station.agentSaid)")
        let said = station.agentSaid.split(separator: "\n").filter { $0.contains("made anew") }
        #expect(said.count == 1, "\(station.agentSaid)")
        try station.send(texts(1...20), as: "new")
        #expect(try station.lines(of: "new") == stored(1...20))
        #expect(station.signalAgent(15) == 0)
        // The next one has nothing to say.
        try station.startAgent()
        #expect(!station.agentSaid.contains("open spool"))
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 7: twenty verifications beside a sender are sound, and a changed batch is not")
    func verifyWhileWriting() throws {
        let station = try Station()
        try station.startAgent()
        let sender = try Feeder(station, "peer.0", SampleLines.make(10_000, seed: 4), isSlow: true)
        for round in 0..<20 {
            try sender.feed(500)
            let verified = try station.run(["spool", "verify"])
            #expect(verified.status == 0, "\(round): \(verified.error)")
        }
        try sender.feed(.max)
        #expect(sender.finish().status == 0)
        guard SQLiteTool.path != nil else { return }
        _ = try SQLiteTool.run(
            station.hot,
            ".timeout 20000\nUPDATE batch SET crc = crc + 1 WHERE id = (SELECT max(id) FROM batch);"
        )
        let verified = try station.run(["spool", "verify"])
        #expect(verified.status == 3 && verified.error.contains("checksum differs"))
        #expect(station.signalAgent(15) == 0)
    }

    @Test("case 8: a bare copy of hot.db is read up to some commit, or says where the rest is")
    func bareCopy() throws {
        let station = try Station()
        try station.startAgent()
        let lines = SampleLines.make(3000, seed: 6)
        let sender = try Feeder(station, "peer.0", lines, isSlow: true)
        let copy = station.folder.file("copy")
        try Files.makeFolder(copy)
        // Before the first checkpoint nothing is in the file.
        try sender.feed(100)
        #expect(eventually { (try? station.lines(of: "peer.0").count) ?? 0 > 0 })
        try Files.copy(station.hot, to: copy + "/hot.db")
        let early = try station.run(["query", "--spool", copy])
        #expect(early.status == 2 && early.error.contains("intel spool backup"), "\(early.error)")
        try sender.feed(.max)
        #expect(sender.finish().status == 0)
        #expect(station.signalAgent(15) == 0)
        try station.startAgent()
        try station.send(texts(1...50), as: "later")
        try Files.copy(station.hot, to: copy + "/hot.db")
        let found = try station.exported(["--spool", copy])
        #expect(found.filter { $0.peer == "peer.0" }.count == 3000)
        #expect(found.count <= 3050)
        let whole = station.folder.file("backup")
        #expect(try station.run(["spool", "backup", whole]).status == 0)
        #expect(try station.exported(["--spool", whole]).count == 3050)
        #expect(station.signalAgent(15) == 0)
    }

    @Test(
        "case 9: a spool of the next version is refused with both named; one of the last is taken"
    )
    func versions() throws {
        guard SQLiteTool.path != nil else { return }
        let station = try Station()
        try station.startAgent()
        try station.send(texts(1...50), as: "p")
        #expect(station.signalAgent(15) == 0)
        let said = try SQLiteTool.run(station.hot, "PRAGMA user_version;")
        let version = try #require(Int(said))
        _ = try SQLiteTool.run(station.hot, "PRAGMA user_version = \(version + 1);")
        let bytes = try Files.contents(station.hot)
        for command in [["agent"], ["query", "-n", "5"], ["spool", "verify"]] {
            let outcome = try station.run(command)
            #expect(outcome.status != 0 && outcome.status != 1)
            let both = "format \(version + 1), known up to \(version)"
            #expect(outcome.error.contains(both), "\(command): \(outcome.error)")
        }
        #expect(try Files.contents(station.hot) == bytes)
        let older = """
            DROP TABLE segment; DROP TABLE removal; DROP TABLE removed; DROP TABLE mark;
            DROP TABLE clock;
            """
        _ = try SQLiteTool.run(station.hot, older + "PRAGMA user_version = 1;")
        #expect(try station.lines(of: "p") == stored(1...50))
        try station.startAgent()
        try station.send(texts(1...5), as: "q")
        #expect(try station.lines(of: "p") == stored(1...50))
        #expect(station.signalAgent(15) == 0)
        #expect(try SQLiteTool.run(station.hot, "PRAGMA user_version;") == said)
        #expect(aside(station).isEmpty)
    }
}
