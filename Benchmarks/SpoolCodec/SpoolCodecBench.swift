internal import Compression
internal import LinuxIO
internal import Spool

@main
struct SpoolCodecBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        let file = try Files.contents(arguments[1], limit: 1 << 30)
        let corpus = Corpus(file, nanoseconds: arguments.contains("--ns"))
        let batches = corpus.batches()
        var encoder = try ColumnBatchEncoder()
        encoder.debug.noCuts = arguments.contains("--nocuts")
        if arguments.contains("--uses1") { encoder.debug.usesMin = 1 }
        var total = 0
        for (name, records) in batches {
            let raw = records.reduce(0) { $0 + $1.payload.count }
            let (e, c, i) = (encoder.debug.envelope, encoder.debug.columns, encoder.debug.image)
            let (b, t) = (encoder.debug.build, encoder.debug.total)
            let blob = try corpus.payloads.withUnsafeBytes {
                try encoder.encode(records[...], payloads: $0)
            }
            total += blob.count
            let rows = try ZstdCompressor(level: 9)
            var gathered: [UInt8] = []
            for record in records { gathered += corpus.payloads[record.payload] }
            var packed: [UInt8] = []
            try gathered.withUnsafeBytes { try rows.compress($0, appendingTo: &packed) }
            print(
                name, records.count, "raw", raw, "image", encoder.debug.image - i,
                "env", encoder.debug.envelope - e, "cols", encoder.debug.columns - c,
                "rows9", packed.count, "build", encoder.debug.build - b,
                "total", encoder.debug.total - t
            )
        }
        let n = Double(corpus.lines)
        print("B/rec", Double(total) / n, "env", Double(encoder.debug.envelope) / n,
            "cols", Double(encoder.debug.columns) / n, encoder.debug.build, encoder.debug.total)
    }
}
