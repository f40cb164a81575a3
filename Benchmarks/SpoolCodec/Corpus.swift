internal import LinuxIO
internal import Spool
internal import Telemetry

/// A corpus as the compaction would see it: sorted by stream and time, payloads in one buffer.
struct Corpus {
    /// Records of one (peer, kind), in the order of time.
    struct Stream {
        var peer: String
        var kind: String
        var records: [ColumnRecord] = []
    }

    var payloads: [UInt8]
    var streams: [Stream] = []
    var lines = 0

    /// Reads NDJSON of the form `{"ts":us,"peer":"…","kind":"…","body":…}` and invents what a
    /// bus would add: sequences, store numbers, boot times, receive times, levels.
    init(_ bytes: [UInt8], nanoseconds: Bool) {
        payloads = bytes
        var index: [String: Int] = [:]
        var peers: [String: Peer] = [:]
        var random = Generator(state: 7)
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            defer { start = end + 1 }
            guard let line = Line(bytes, start..<end) else { continue }
            lines += 1
            let key = line.peer + "\u{0}" + line.kind
            let stream = index[key] ?? streams.count
            if stream == streams.count {
                index[key] = stream
                streams.append(Stream(peer: line.peer, kind: line.kind))
            }
            var peer = peers[line.peer] ?? Peer(instance: Int64(peers.count + 1))
            var time = line.time * 1000
            if nanoseconds { time += Int64(random.next() % 1000) }
            let envelope = peer.envelope(time, &random)
            peers[line.peer] = peer
            streams[stream].records.append(
                ColumnRecord(
                    stream: Int64(stream + 1),
                    instance: peer.instance,
                    envelope: envelope,
                    store: UInt64(lines),
                    payload: line.body
                )
            )
        }
    }

    /// A sender: its messages leave in transfers, and those of one arrive together.
    private struct Peer {
        var instance: Int64
        var sequence: UInt64 = 0
        var received: Int64 = 0
        var closes: Int64 = .min

        mutating func envelope(_ time: Int64, _ random: inout Generator) -> Envelope {
            sequence += 1
            if time >= closes {
                // A transfer gathers for 5 ms, then takes some 150 us to be read.
                closes = time + 5_000_000
                received = closes + 100_000 + Int64(random.next() % 100_000)
            }
            let roll = random.next() % 100
            return Envelope(
                sequence: sequence,
                level: roll < 95 ? .info : roll < 99 ? .warning : .error,
                time: time,
                boot: UInt64(time - 1_764_000_000_000_000_000),
                received: received
            )
        }
    }

    private struct Line {
        var time: Int64 = 0
        var peer = ""
        var kind = ""
        var body = 0..<0

        init?(_ bytes: [UInt8], _ range: Range<Int>) {
            var at = range.lowerBound
            func skip(_ text: String) -> Bool {
                guard bytes[at..<range.upperBound].starts(with: text.utf8) else { return false }
                at += text.utf8.count
                return true
            }
            func word() -> String? {
                guard let end = bytes[at..<range.upperBound].firstIndex(of: 0x22) else {
                    return nil
                }
                defer { at = end + 1 }
                return String(decoding: bytes[at..<end], as: UTF8.self)
            }
            guard skip("{\"ts\":") else { return nil }
            while bytes[at] &- 0x30 < 10 {
                time = time * 10 + Int64(bytes[at] - 0x30)
                at += 1
            }
            guard skip(",\"peer\":\""), let peer = word(), skip(",\"kind\":\""), let kind = word(),
                skip(",\"body\":")
            else { return nil }
            (self.peer, self.kind) = (peer, kind)
            body = at..<range.upperBound - 1
        }
    }

    struct Generator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}

extension Corpus {
    static let rawMax = 1 << 20
    static let shared = 32 << 10

    /// Records that will make one blob.
    struct Batch {
        var name: String
        var records: [ColumnRecord]
    }

    /// Batches of at most 1 MiB of one stream; small streams share.
    func batches() -> [Batch] {
        var made: [Batch] = []
        var mixed: [ColumnRecord] = []
        for stream in streams.sorted(by: { ($0.peer, $0.kind) < ($1.peer, $1.kind) }) {
            let total = stream.records.reduce(0) { $0 + $1.payload.count }
            if total < Self.shared {
                mixed += stream.records
                continue
            }
            var batch: [ColumnRecord] = []
            var raw = 0
            for record in stream.records {
                if raw + record.payload.count > Self.rawMax {
                    made.append(Batch(name: "\(stream.peer)/\(stream.kind)", records: batch))
                    batch = []
                    raw = 0
                }
                batch.append(record)
                raw += record.payload.count
            }
            made.append(Batch(name: "\(stream.peer)/\(stream.kind)", records: batch))
        }
        if !mixed.isEmpty { made.append(Batch(name: "small streams", records: mixed)) }
        return made
    }
}
