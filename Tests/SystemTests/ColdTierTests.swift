import LinuxIO
import Spool
import Telemetry
import TestKit
import Testing

/// What the program prints does not tell whether records are hot or cold.
@Suite struct ColdTierTests {
    private static let commands: [[String]] = [
        ["query", "-o", "json"], ["query", "-r"], ["query", "-n", "37"],
        ["query", "-n", "5", "-r"],
        ["query", "-g", "rare", "-o", "cat"], ["query", "-g", "rare", "-w"],
        ["query", "--count", "-g", "rare 3"], ["query", "--count", "--kind", "line"],
        ["query", "--since", "@1796000010", "--until", "@1796000200", "-p", "err"],
        ["query", "--peer", "p3", "-o", "json"], ["export"], ["export", "--format", "ndjson"],
        ["export", "-n", "100"], ["peers"], ["peers", "-o", "json"], ["losses"],
        ["sql", "SELECT * FROM records ORDER BY time, store"], ["sql", "SELECT * FROM records"],
        ["sql", "SELECT kind, count(*), sum(seq) FROM records GROUP BY kind ORDER BY 1"],
        ["sql", "SELECT store, value FROM records('$.n') WHERE value > 1500"],
        ["sql", "SELECT * FROM peers"], ["sql", "SELECT * FROM losses"],
    ]

    private func fill(_ spool: String) throws {
        var writer = try SpoolWriter(directory: spool, durability: .normal)
        let filling = String(repeating: "some words to fill it, ", count: 20)
        for part in 0..<20 {
            var batch = RecordBatch()
            for index in 0..<100 {
                let stream = index % 5
                let number = part * 100 + index
                let time = 1_796_000_000_000_000_000 + Int64(number) * 170_000_003
                let peer = PeerInstance(identifier: "p\(stream)", epoch: 1)
                let mark = number % 53 == 0 ? "rare \(stream)" : "rarely"
                let payload = "{\"n\":\(number),\"message\":\"\(filling)\(mark)\\n\"}"
                let envelope = Envelope(
                    sequence: UInt64(number / 5 + 1),
                    level: number % 11 == 0 ? .error : .info,
                    time: time,
                    received: time + 500_000
                )
                let kind = index % 7 == 0 ? "event" : "line"
                Array(payload.utf8).withUnsafeBytes { bytes in
                    batch.append(
                        instance: batch.index(of: peer),
                        kind: batch.index(ofKind: kind),
                        envelope: envelope,
                        payload: bytes
                    )
                }
            }
            let loss = Loss(
                instance: PeerInstance(identifier: "p1", epoch: 1),
                sequences: 9_000...9_009,
                reason: "queue full",
                times: 1_796_000_000_000_000_000...1_796_000_000_500_000_000
            )
            _ = try writer.commit(
                SpoolCommit(records: batch, losses: part == 7 ? [loss] : [])
            )
        }
    }

    private func compact(_ spool: String, keeping kept: Int) throws {
        let limits = CompactionLimits(
            hotBytes: 0,
            keptBytes: kept,
            segmentBytes: 500_000,
            smallBytes: 0
        )
        var compaction = try Compaction(directory: spool, limits: limits)
        while try compaction.step() != nil {}
    }

    @Test("every command prints the same, byte for byte, hot, half cold and cold")
    func sameOutput() throws {
        let station = try Station()
        let spool = station.folder.file("spool")
        try fill(spool)
        let expected = try Self.commands.map { try station.run($0) }
        for (command, outcome) in zip(Self.commands, expected) where command.first != "peers" {
            #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(command)")
        }
        for kept in [300_000, 0] {
            try compact(spool, keeping: kept)
            for (command, before) in zip(Self.commands, expected) {
                let after = try station.run(command)
                #expect(after.output == before.output, "\(command), \(kept) kept")
                #expect(after.status == before.status && after.error == before.error)
            }
        }
        let listed = try station.run(["sql", "SELECT count(*) > 1 FROM segments"])
        #expect(listed.output.contains("1"))
        #expect(try station.run(["status"]).output.contains("2,000 of them in"))
    }

    @Test("a damaged segment: the rest is printed, it is named, and the status is 3")
    func damage() throws {
        let station = try Station()
        let spool = station.folder.file("spool")
        try fill(spool)
        try compact(spool, keeping: 0)
        let name = try #require(Files.names(in: spool + "/seg").first)
        try Files.write("no segment", to: spool + "/seg/" + name)
        for command in [
            ["query", "-o", "cat"], ["export"], ["sql", "SELECT payload FROM records"],
        ] {
            let outcome = try station.run(command)
            #expect(outcome.status == 3, "\(command): \(outcome.error)")
            #expect(outcome.error.contains("segment \(name)"))
            #expect(outcome.output.contains("rarely"))
        }
    }
}
