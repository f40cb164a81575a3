import LinuxIO
import TestKit
import Testing

/// `intel spool …` of the real program, beside a real agent that stores.
@Suite(.serialized) struct UpkeepTests {
    @Test("beside a sending agent: always sound, and every backup is a whole beginning of it")
    func besideAgent() throws {
        let station = try Station()
        try station.startAgent()
        let sources = (0..<3).map { SampleLines.make(3000, seed: UInt64($0) + 71) }
        var senders: [Feeder] = []
        for (index, lines) in sources.enumerated() {
            senders.append(try Feeder(station, "peer.\(index)", lines, isSlow: true))
        }
        let backup = station.folder.file("backup")
        var sizes: [Int] = []
        for round in 0..<6 {
            for sender in senders { try sender.feed(300) }
            // Some of it is stored by now, and some is on its way.
            let before = sizes.last ?? 0
            #expect(try eventually(60) { try stored(station) > before })
            let verified = try station.run(["spool", "verify"])
            #expect(verified.status == 0, "\(verified.error)")
            let made = try station.run(["spool", "backup", backup])
            #expect(made.status == 0, "\(made.error)")
            let copy = station.folder.file("restored.\(round)")
            try copyBack(backup, to: copy)
            sizes.append(try check(copy, station, sources))
        }
        #expect(sizes == sizes.sorted() && sizes[0] > 0)
        for sender in senders {
            try sender.feed(.max)
            #expect(sender.finish().status == 0)
        }
        #expect(station.signalAgent(15) == 0)
        #expect(try station.run(["spool", "backup", backup]).status == 0)
        #expect(try station.run(["spool", "verify"]).status == 0)
        let whole = ["export", "--format", "ndjson"]
        let first = try station.run(whole)
        #expect(try station.run(whole + ["--spool", backup]).output == first.output)

        // An agent goes on where a restored spool ends.
        let copy = station.folder.file("restored.5")
        try station.startAgent(["--spool", copy])
        let more = try station.run(
            ["send", "--as", "peer.9", "--timeout", "60s"],
            input: Array("one more\n".utf8)
        )
        #expect(more.status == 0, "\(more.error)")
        #expect(station.signalAgent(15) == 0)
        #expect(try station.run(["spool", "verify", "--spool", copy]).status == 0)
        let found = try station.run(["query", "--spool", copy, "--peer", "peer.9", "-o", "cat"])
        #expect(found.output == "one more\n")
    }

    @Test("beside a sending agent a removal by hand works, and stored is what is left and removed")
    func pruneBesideAgent() throws {
        let station = try Station()
        try station.startAgent(["--keep-age", "30d"])
        let lines = (0..<2).map { SampleLines.make(4000, seed: UInt64($0) + 31) }
        var senders: [Feeder] = []
        for (index, lines) in lines.enumerated() {
            senders.append(try Feeder(station, "peer.\(index)", lines, isSlow: true))
        }
        let keep = ["--keep", "peer.0 least=500,records=700", "--keep", "peer.1 records=300"]
        var removed = 0
        for _ in 0..<5 {
            let before = try stored(station)
            for sender in senders { try sender.feed(700) }
            #expect(try eventually(60) { try stored(station) > before })
            let dry = try station.run(["spool", "prune", "--dry-run"] + keep)
            #expect(dry.status == 0, "\(dry.error)")
            let made = try station.run(["spool", "prune"] + keep)
            #expect(made.status == 0, "\(made.error)")
            #expect(try station.run(["spool", "verify"]).status == 0)
        }
        for sender in senders {
            try sender.feed(.max)
            #expect(sender.finish().status == 0)
        }
        #expect(try station.run(["spool", "prune"] + keep).status == 0)
        for (index, lines) in lines.enumerated() {
            let records = try station.exported(["--peer", "peer.\(index)"])
            let sum = try station.run([
                "sql", "-o", "csv",
                "SELECT coalesce(sum(records), 0) FROM removed WHERE peer = 'peer.\(index)'",
            ]).output
            let gone = Int(sum.split(separator: "\n").last ?? "") ?? -1
            removed += gone
            #expect(records.count + gone == lines.count)
            // What is left is the end.
            #expect(records.map(\.sequence) == Array(gone + 1..<lines.count + 1))
        }
        #expect(removed > 0)
        let status = try station.run(["status"])
        #expect(status.status == 0 && !status.output.contains("fails"), "\(status.output)")
        #expect(station.signalAgent(15) == 0)
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test("case 20: a short age holds in the part that is being written, with no restart")
    func shortAge() throws {
        let station = try Station()
        try station.startAgent(["--keep-age", "2s", "--keep", "kept age=1h"])
        for peer in ["first", "kept", "second"] {
            let sent = try station.run(["send", "--as", peer], input: Array("one\ntwo\n".utf8))
            #expect(sent.status == 0, "\(sent.error)")
        }
        func count(_ peer: String) throws -> String {
            try station.run(["query", "--count", "-q", "--peer", peer]).output
        }
        #expect(try eventually(60) { try count("first").hasPrefix("0") })
        #expect(try count("kept").hasPrefix("2"))
        let book = "SELECT sum(records) FROM removed WHERE peer = 'first' AND kind = 'line'"
        #expect(try station.run(["sql", "-o", "csv", book]).output.hasSuffix("2\n"))
        #expect(station.signalAgent(15) == 0)
    }

    private func stored(_ station: Station) throws -> Int {
        let count = try station.run(["query", "--count", "-q", "--peer", "peer.*"])
        return Int(count.output.prefix { $0.isNumber }) ?? 0
    }

    private func copyBack(_ backup: String, to folder: String) throws {
        try Files.makeFolder(folder + "/seg")
        try Files.copy(backup + "/hot.db", to: folder + "/hot.db")
        for name in Files.names(in: backup + "/seg") {
            try Files.copy(backup + "/seg/" + name, to: folder + "/seg/" + name)
        }
    }

    /// Every peer's records in a restored spool are the first of what it sends; how many there are.
    private func check(_ folder: String, _ station: Station, _ sources: [[String]]) throws -> Int {
        let verified = try station.run(["spool", "verify", "--spool", folder])
        #expect(verified.status == 0, "\(verified.error)")
        let records = try station.exported(["--spool", folder])
        for (index, lines) in sources.enumerated() {
            let own = records.filter { $0.peer == "peer.\(index)" }
            #expect(own.map(\.sequence) == Array(1..<own.count + 1))
            #expect(own.map(\.payload) == lines.prefix(own.count).map(SampleLines.payload))
        }
        #expect(try station.run(["losses", "--spool", folder]).status == 0)
        return records.count
    }

    @Test("what a killed agent left on a disk with lost sectors is salvaged, and told")
    func salvage() throws {
        let station = try Station()
        try station.startAgent()
        let lines = SampleLines.make(4000, seed: 5)
        // A portion only when the last is stored: several batches, however fast the machine is,
        // so that some of them lie outside of what is lost.
        let sender = try Feeder(station, "peer.0", lines, isSlow: true)
        for portion in 1...8 {
            try sender.feed(500)
            #expect(try eventually(60) { try stored(station) == 500 * portion })
        }
        #expect(sender.finish().status == 0)
        #expect(station.signalAgent(15) == 0)
        let (spool, saved) = (station.folder.file("spool"), station.folder.file("saved"))
        var bytes = try Files.contents(spool + "/hot.db")
        let pages = bytes.count / 8192
        // A third of the file from its middle on.
        for place in pages / 2 * 8192..<(pages / 2 + pages / 3) * 8192 { bytes[place] = 0 }
        do {
            let file = try Files.create(spool + "/hot.db")
            try Descriptor.write(file.raw, bytes)
        }
        let damaged = try station.run(["spool", "verify"])
        #expect(damaged.status == 3 && damaged.error.contains("intel: verify '"))
        let outcome = try station.run(["spool", "salvage", spool, saved])
        #expect(outcome.status == 3 && outcome.output.hasPrefix("saved: "), "\(outcome.error)")
        #expect(try Files.contents(spool + "/hot.db") == bytes)
        #expect(try station.run(["spool", "verify", "--spool", saved]).status == 0)
        let records = try station.exported(["--spool", saved])
        // Whose they are may be lost as well.
        let own = records.filter { record in
            (1...lines.count).contains(record.sequence)
                && record.payload == SampleLines.payload(lines[record.sequence - 1])
        }
        #expect(own.count > 0 && own.count < lines.count)
        let named = records.filter { $0.peer == "peer.0" }
        #expect(named.count == own.count { $0.peer == "peer.0" })
    }
}
