import Basics
import LinuxIO
import Spool
import Telemetry

/// Fills a spool with a corpus, one `{"ts":µs,"peer":"…","kind":"…","body":…}` a line, for figures
/// that need more records than the bus would bring in a minute: `spool-load CORPUS FOLDER`.
@main
struct SpoolLoad {
    private static let commitBytes = 256 << 10

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            return StandardError.line("usage: spool-load CORPUS FOLDER")
        }
        let corpus = try Files.contents(arguments[1], limit: 4 << 30)
        var writer = try SpoolWriter(directory: arguments[2], durability: .normal)
        var batch = RecordBatch()
        var sequences: [PeerInstance: UInt64] = [:]
        var total = 0
        try corpus.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            while scanner.peek() != nil {
                try add(&scanner, to: &batch, &sequences)
                total += 1
                guard batch.payloadBytes >= commitBytes else { continue }
                _ = try writer.commit(SpoolCommit(records: batch))
                batch = RecordBatch()
            }
        }
        if !batch.isEmpty { _ = try writer.commit(SpoolCommit(records: batch)) }
        StandardError.line("\(total) records")
    }

    private static func add(
        _ scanner: inout JSONScanner,
        to batch: inout RecordBatch,
        _ sequences: inout [PeerInstance: UInt64]
    ) throws {
        var (time, peer, kind, body) = (Int64(0), "", "", 0..<0)
        try scanner.expect(UInt8(ascii: "{"))
        repeat {
            let key = try text(scanner.string(), scanner.bytes)
            try scanner.expect(UInt8(ascii: ":"))
            let value = try scanner.value()
            switch key {
            case "ts": time = (Int64(text(value, scanner.bytes)) ?? 0) * 1000
            case "peer": peer = text(value.dropFirst().dropLast(), scanner.bytes)
            case "kind": kind = text(value.dropFirst().dropLast(), scanner.bytes)
            case "body": body = value
            default: break
            }
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
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
