import Basics
import LinuxIO
import Spool
import Telemetry

/// Fills a spool with a corpus, one `{"ts":µs,"peer":"…","kind":"…","body":…}` a line, for
/// figures that need more records than the bus would bring in a minute.
///
///     spool-load CORPUS FOLDER [--times N] [--full] [--compact] [--keep]
///
/// `--times` stores it N times, each later by the whole span; `--compact` moves it to the cold tier
/// as it comes, with the agent's limits, and at the end all of it, unless `--keep` leaves the rest
/// hot. `--full` syncs each commit. It prints how many records a second were stored, from the text
/// of the corpus in memory to the last commit, compaction not counted.
@main
struct SpoolLoad {
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        func take(_ flag: String) -> Bool {
            guard let place = arguments.firstIndex(of: flag) else { return false }
            arguments.remove(at: place)
            return true
        }
        let compacts = take("--compact")
        let keeps = take("--keep")
        let durability = take("--full") ? Durability.full : .normal
        var times = 1
        if let place = arguments.firstIndex(of: "--times"), place + 1 < arguments.count {
            times = Int(arguments[place + 1]) ?? 1
            arguments.removeSubrange(place...place + 1)
        }
        guard arguments.count == 2 else {
            return StandardError.line(
                "usage: spool-load CORPUS FOLDER [--times N] [--full] [--compact] [--keep]"
            )
        }
        let corpus = try Files.contents(arguments[0], limit: 4 << 30)
        var load = Load(
            writer: try SpoolWriter(directory: arguments[1], durability: durability),
            meter: CompactionMeter(directory: arguments[1])
        )
        let start = Clock.system.boot()
        for round in 0..<times { try load.add(corpus, round: round, compacts: compacts) }
        try load.flush()
        let seconds = Double(Clock.system.boot() - start) / 1e9 - load.compacting
        print("\(load.total) records")
        print("\(Int(Double(load.total) / max(1e-6, seconds))) records/s")
        if compacts, !keeps { try load.meter.compact(CompactionLimits(hotBytes: 0, keptBytes: 0)) }
        if compacts { load.meter.tell(records: load.total) }
    }
}

/// What is being stored.
private struct Load: ~Copyable {
    private static let commitBytes = 256 << 10

    var writer: SpoolWriter
    var meter: CompactionMeter
    private var batch = RecordBatch()
    private var sequences: [PeerInstance: UInt64] = [:]
    private(set) var total = 0
    /// First and last time of the corpus, ns.
    private var span = (first: Int64.max, last: Int64.min)
    private var shift: Int64 = 0
    private var hotBytes = 0
    /// Seconds that went into compaction.
    private(set) var compacting = 0.0

    init(writer: consuming SpoolWriter, meter: CompactionMeter) {
        self.writer = writer
        self.meter = meter
    }

    /// Stores the corpus once, later by `round` spans.
    mutating func add(_ corpus: [UInt8], round: Int, compacts: Bool) throws {
        if round > 0 { shift = (span.last - span.first + 1_000_000) * Int64(round) }
        try corpus.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            while scanner.peek() != nil {
                try add(&scanner)
                total += 1
                guard batch.payloadBytes >= Self.commitBytes else { continue }
                hotBytes += batch.payloadBytes
                try flush()
                guard compacts, hotBytes > CompactionLimits().hotBytes else { continue }
                let start = Clock.system.boot()
                try meter.compact(CompactionLimits())
                compacting += Double(Clock.system.boot() - start) / 1e9
                hotBytes = 0
            }
        }
    }

    mutating func flush() throws {
        if batch.isEmpty { return }
        _ = try writer.commit(SpoolCommit(records: batch))
        batch = RecordBatch()
    }

    private mutating func add(_ scanner: inout JSONScanner) throws {
        var (time, peer, kind, body) = (Int64(0), "", "", 0..<0)
        try scanner.expect(UInt8(ascii: "{"))
        repeat {
            let key = try Self.text(scanner.string(), scanner.bytes)
            try scanner.expect(UInt8(ascii: ":"))
            let value = try scanner.value()
            switch key {
            case "ts": time = (Int64(Self.text(value, scanner.bytes)) ?? 0) * 1000
            case "peer": peer = Self.text(value.dropFirst().dropLast(), scanner.bytes)
            case "kind": kind = Self.text(value.dropFirst().dropLast(), scanner.bytes)
            case "body": body = value
            default: break
            }
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
        if shift == 0 { span = (min(span.first, time), max(span.last, time)) }
        time += shift
        let instance = PeerInstance(identifier: peer, epoch: 1)
        sequences[instance, default: 0] += 1
        let sender = batch.index(of: instance)
        let sort = batch.index(ofKind: kind)
        batch.append(
            instance: sender,
            kind: sort,
            envelope: Envelope(
                sequence: sequences[instance] ?? 0,
                time: time,
                received: time + 1_000_000
            ),
            payload: UnsafeRawBufferPointer(rebasing: scanner.bytes[body])
        )
    }

    private static func text(_ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}
