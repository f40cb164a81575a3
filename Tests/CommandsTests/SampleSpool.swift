import Basics
import LinuxIO
import Spool
import Telemetry

@testable import Commands

/// A spool in a folder of its own, removed at the end of the test.
final class SampleSpool {
    let folder: String
    private let instance = PeerInstance(
        identifier: "com.vendor.pos",
        epoch: 1_796_000_000_000_000_000
    )
    private var sequence: UInt64 = 0

    /// 2026-11-30 03:20:00 UTC; records are a second apart.
    static let start: Int64 = 1_796_008_800_000_000_000

    init() throws {
        folder = try Files.makeTemporaryFolder("intel-commands")
    }

    deinit {
        Files.removeTree(folder)
    }

    /// Stores one commit of payloads, all of one sender and kind.
    func store(
        _ payloads: [String],
        kind: String = "line",
        level: Level = .info,
        times: (Int) -> Int64 = { SampleSpool.start + Int64($0) * 1_000_000_000 }
    ) throws {
        var writer = try SpoolWriter(directory: folder, durability: .normal)
        var records = RecordBatch()
        for payload in payloads {
            sequence += 1
            let time = times(Int(sequence))
            let from = records.index(of: instance)
            let sort = records.index(ofKind: kind)
            Array(payload.utf8).withUnsafeBytes { bytes in
                records.append(
                    instance: from,
                    kind: sort,
                    envelope: Envelope(
                        sequence: sequence,
                        level: level,
                        time: time,
                        received: time + 1
                    ),
                    payload: bytes
                )
            }
        }
        _ = try writer.commit(SpoolCommit(records: records, peers: [books], losses: []))
    }

    /// The sender's books: all that was stored, and nothing missing.
    var books: PeerState {
        var state = PeerState(instance: instance)
        state.pid = 812
        state.uid = 1000
        state.appeared = Self.start
        state.changed = Self.start
        state.lastSeen = Self.start
        state.sent = sequence
        state.stored = sequence
        if sequence > 0 { state.accounted.insert(1...sequence) }
        return state
    }

    /// Stores rows of the books alone.
    func store(peers: [PeerState], losses: [Loss] = []) throws {
        var writer = try SpoolWriter(directory: folder, durability: .normal)
        _ = try writer.commit(SpoolCommit(records: RecordBatch(), peers: peers, losses: losses))
    }

    /// Runs `intel ARGUMENTS --spool …` and gives the exit status and what it wrote.
    func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let path = folder + "/output"
        let status = try output(to: path, arguments)
        let text = String(decoding: try Files.contents(path), as: UTF8.self)
        return (status, text)
    }

    private func output(to path: String, _ arguments: [String]) throws -> Int32 {
        let file = try Files.create(path)
        return Program.run(arguments + ["--spool", folder], output: file.raw)
    }

    /// The messages of the records that `intel query ARGUMENTS` shows, and the exit status.
    func query(_ arguments: [String]) throws -> (status: Int32, messages: [String]) {
        let (status, text) = try run(["query", "-q", "-o", "cat"] + arguments)
        return (status, text.split(separator: "\n").map(String.init))
    }
}
