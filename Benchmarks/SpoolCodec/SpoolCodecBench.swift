internal import Compression
internal import Glibc
internal import LinuxIO
internal import Spool

/// Figures of the cold tier's codec over a corpus.
///
///     spool-codec-bench FILE.ndjson [--ns] [--batches] [--rounds N] [--word WORD]... [--frames DIR]
@main
struct SpoolCodecBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else {
            return print("usage: spool-codec-bench FILE.ndjson")
        }
        let file = try Files.contents(arguments[1], limit: 1 << 30)
        let corpus = Corpus(file, nanoseconds: arguments.contains("--ns"))
        let batches = corpus.batches()
        var encoder = try ColumnBatchEncoder()
        let decoder = try ColumnBatchDecoder()
        let rounds = 5
        var blobs: [[UInt8]] = []
        var best = Double.infinity
        for _ in 0..<rounds {
            blobs = []
            let start = processorTime()
            try corpus.payloads.withUnsafeBytes { payloads in
                for batch in batches {
                    blobs.append(try encoder.encode(batch.records[...], payloads: payloads))
                }
            }
            best = min(best, processorTime() - start)
        }
        let raw = batches.reduce(0) { $0 + $1.records.reduce(0) { $0 + $1.payload.count } }
        let total = blobs.reduce(0) { $0 + $1.count }
        print("records", corpus.lines, "raw", raw, "B/rec", Double(total) / Double(corpus.lines))
        print("encode", rate(raw, best), "MB/s")
        best = .infinity
        for _ in 0..<rounds {
            let start = processorTime()
            for blob in blobs {
                try blob.withUnsafeBytes { try decoder.open($0) }
                _ = try decoder.envelopes()
                _ = try decoder.payloads()
            }
            best = min(best, processorTime() - start)
        }
        print("decode+rebuild+checksum", rate(raw, best), "MB/s")
        for word in ["ubuntuforums", "Ubuntuforums", "invalid user", "10.47.2.100"] {
            best = .infinity
            var hits = 0
            for _ in 0..<rounds {
                hits = 0
                let start = processorTime()
                for blob in blobs {
                    try blob.withUnsafeBytes { try decoder.open($0) }
                    hits += try decoder.search(TextPattern(word)).count
                }
                best = min(best, processorTime() - start)
            }
            print("search", word, hits, rate(raw, best), "MB/s")
        }
        for (batch, blob) in zip(batches, blobs) where arguments.contains("--batches") {
            try blob.withUnsafeBytes { try decoder.open($0) }
            let raw = batch.records.reduce(0) { $0 + $1.payload.count }
            let back = try decoder.payloads()
            var original: [UInt8] = []
            for record in batch.records { original += corpus.payloads[record.payload] }
            let numbers = try decoder.envelopes()
            var isSame = back.bytes == original && numbers.count == batch.records.count
            for (a, b) in zip(numbers, batch.records) {
                if a.envelope != b.envelope || a.store != b.store || a.stream != b.stream
                    || a.instance != b.instance
                {
                    isSame = false
                }
            }
            print(
                batch.name, batch.records.count, raw, blob.count, decoder.isColumnar ? "" : "rows",
                isSame ? "same" : "DIFFERS"
            )
        }
    }

    static func rate(_ bytes: Int, _ seconds: Double) -> Double {
        Double(bytes) / seconds / 1e6
    }

    /// Seconds of processor time of this process: the machine's other work does not count.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
