internal import Glibc
internal import LinuxIO
internal import Spool

/// Figures of the cold tier's codec over a corpus; every batch is compared with what went in.
///
///     spool-codec-bench FILE.ndjson [--ns] [--batches] [--blobs FILE] [WORD]...
///
/// `--ns` gives the times noise below the microsecond, `--batches` prints a line a batch,
/// and `--blobs` writes all blobs, each after its length (8 bytes), to search them by other means.
/// Rates are raw payload bytes by seconds of processor time, the best of several rounds.
@main
struct SpoolCodecBench {
    private static let rounds = 7

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard !arguments.isEmpty else { return print("usage: spool-codec-bench FILE.ndjson") }
        let file = try Files.contents(arguments.removeFirst(), limit: 1 << 30)
        func take(_ flag: String) -> Bool {
            guard let place = arguments.firstIndex(of: flag) else { return false }
            arguments.remove(at: place)
            return true
        }
        let corpus = Corpus(file, nanoseconds: take("--ns"))
        let printsBatches = take("--batches")
        let batches = corpus.batches()
        let raw = batches.reduce(0) { $0 + $1.records.reduce(0) { $0 + $1.payload.count } }
        let blobs = try encode(corpus, batches, raw)
        if let place = arguments.firstIndex(of: "--blobs"), place + 1 < arguments.count {
            write(blobs, to: arguments[place + 1])
            arguments.removeSubrange(place...place + 1)
        }
        try rebuild(blobs, raw)
        let words =
            arguments.isEmpty ? ["ubuntuforums", "Ubuntuforums", "invalid user"] : arguments
        for word in words { try search(word, blobs, raw) }
        try compare(corpus, batches, blobs, printsBatches)
    }

    private static func encode(
        _ corpus: Corpus,
        _ batches: [Corpus.Batch],
        _ raw: Int
    ) throws -> [[UInt8]] {
        var encoder = try ColumnBatchEncoder()
        var blobs: [[UInt8]] = []
        let seconds = try best {
            blobs = []
            try corpus.payloads.withUnsafeBytes { payloads in
                for batch in batches {
                    blobs.append(try encoder.encode(batch.records[...], payloads: payloads))
                }
            }
        }
        let total = blobs.reduce(0) { $0 + $1.count }
        let each = Double(total) / Double(corpus.lines)
        print("\(corpus.lines) records, \(raw) bytes -> \(total) in \(blobs.count) blobs")
        print(each, "B a record")
        print("encode", rate(raw, seconds), "MB/s")
        return blobs
    }

    private static func rebuild(_ blobs: [[UInt8]], _ raw: Int) throws {
        let decoder = try ColumnBatchDecoder()
        let seconds = try best {
            for blob in blobs {
                try blob.withUnsafeBytes { try decoder.open($0) }
                _ = try decoder.envelopes()
                _ = try decoder.payloads()
            }
        }
        print("decode, rebuild, compare checksum", rate(raw, seconds), "MB/s")
        let opening = try best {
            for blob in blobs { try blob.withUnsafeBytes { try decoder.open($0) } }
        }
        print("open only", rate(raw, opening), "MB/s")
    }

    private static func search(_ word: String, _ blobs: [[UInt8]], _ raw: Int) throws {
        let decoder = try ColumnBatchDecoder()
        var hits = 0
        let seconds = try best {
            hits = 0
            for blob in blobs {
                try blob.withUnsafeBytes { try decoder.open($0) }
                hits += try decoder.search(TextPattern(word)).count
            }
        }
        print("search \(word): \(hits) hits,", rate(raw, seconds), "MB/s")
    }

    private static func compare(
        _ corpus: Corpus,
        _ batches: [Corpus.Batch],
        _ blobs: [[UInt8]],
        _ printsBatches: Bool
    ) throws {
        let decoder = try ColumnBatchDecoder()
        for (batch, blob) in zip(batches, blobs) {
            try blob.withUnsafeBytes { try decoder.open($0) }
            var original: [UInt8] = []
            for record in batch.records { original += corpus.payloads[record.payload] }
            var isSame = try decoder.payloads().bytes == original
            for (back, record) in zip(try decoder.envelopes(), batch.records) {
                if back.envelope != record.envelope || back.store != record.store
                    || back.stream != record.stream || back.instance != record.instance
                {
                    isSame = false
                }
            }
            if printsBatches || !isSame {
                let layout = decoder.isColumnar ? "columns" : "rows"
                print(
                    batch.name,
                    batch.records.count,
                    "records,",
                    original.count,
                    "->",
                    blob.count,
                    layout,
                    isSame ? "" : "DIFFERS"
                )
            }
        }
    }

    private static func write(_ blobs: [[UInt8]], to path: String) {
        guard let file = fopen(path, "w") else { return print("cannot write", path) }
        for blob in blobs {
            var size = UInt64(blob.count)
            fwrite(&size, 8, 1, file)
            blob.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        }
        fclose(file)
    }

    private static func rate(_ bytes: Int, _ seconds: Double) -> Double {
        (Double(bytes) / seconds / 1e5).rounded() / 10
    }

    private static func best(_ body: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<rounds {
            let start = processorTime()
            try body()
            least = min(least, processorTime() - start)
        }
        return least
    }

    /// Seconds of processor time of this process: the machine's other work does not count.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
