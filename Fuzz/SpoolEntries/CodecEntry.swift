internal import Basics
internal import Compression
internal import Spool
internal import Telemetry

/// Any bytes as a cold batch, or as payloads that become one.
///
/// The first byte says what the rest is: a blob as it stands, the contents of one whose checksums
/// are then put right, so that what lies behind them is reached, or payloads, a line each.
package enum CodecEntry {
    /// Longer inputs are cut: what matters is how fields lie together, not how many there are.
    static let bytesMax = 1 << 16

    /// What is wrong; nil if nothing is.
    package static func run(_ input: [UInt8]) -> String? {
        guard let first = input.first else { return nil }
        let rest = Array(input.dropFirst().prefix(bytesMax))
        do {
            switch first % 3 {
            case 0: _ = try read(rest)
            case 1: _ = try read(try forged(rest))
            default: return try roundTrip(rest)
            }
            return nil
        } catch is DamagedBatch {
            return nil
        } catch {
            return "\(error) is no error of a batch"
        }
    }

    /// All that is read from a batch, in an order in which a reader would.
    private static func read(_ blob: [UInt8]) throws -> ColumnBatchDecoder.Payloads {
        let decoder = try ColumnBatchDecoder()
        try blob.withUnsafeBytes { try decoder.open($0) }
        _ = try decoder.envelopes()
        for text in ["a", "from", "10.0.4", "\"k\":1"] {
            _ = try decoder.search(TextPattern(text))
            _ = try decoder.search(TextPattern(text, isWord: true))
        }
        if decoder.count > 2 { _ = try decoder.payloads(of: [0, Int32(decoder.count - 1)]) }
        return try decoder.payloads()
    }

    /// A blob with right checksums, put together from docs/spool-format.md alone: the input has the
    /// numbers of the head, and then the contents of both frames.
    private static func forged(_ input: [UInt8]) throws -> [UInt8] {
        var numbers: [Int] = []
        for index in 0..<8 { numbers.append(index < input.count ? Int(input[index]) : 0) }
        let contents = input.dropFirst(8)
        let split = min(contents.count, numbers[0] | numbers[1] << 8)
        let frames = (Array(contents.prefix(split)), Array(contents.dropFirst(split)))
        let zstd = try ZstdCompressor(level: 1)
        var packed: ([UInt8], [UInt8]) = ([], [])
        try frames.0.withUnsafeBytes { try zstd.compress($0, appendingTo: &packed.0) }
        try frames.1.withUnsafeBytes { try zstd.compress($0, appendingTo: &packed.1) }
        var writer = ByteWriter()
        writer.text("iSC1")
        writer.u8(1)
        let isColumns = numbers[2] & 1 == 1
        writer.u8(isColumns ? 1 : 0)
        writer.varint(UInt64(numbers[3] | numbers[4] << 8))
        let raw = isColumns ? numbers[5] | numbers[6] << 8 | numbers[7] << 16 : frames.1.count
        writer.varint(UInt64(raw))
        writer.u64(frames.1.withUnsafeBytes { XXHash64.hash($0) })
        let place = writer.count
        var end = ByteWriter()
        end.varint(UInt64(packed.0.count))
        end.raw(packed.0)
        end.raw(packed.1)
        let sum = Checksum.crc32c(writer.bytes + end.bytes)
        writer.u32(0)
        writer.raw(end.bytes)
        writer.patch(u32: sum, at: place)
        return writer.bytes
    }

    private static func roundTrip(_ input: [UInt8]) throws -> String? {
        let lines = input.split(separator: 0x0a, omittingEmptySubsequences: false)
        var payloads: [UInt8] = []
        var records: [ColumnRecord] = []
        var mixed: UInt64 = 1
        for (index, line) in lines.enumerated() {
            let start = payloads.count
            payloads += line
            // Numbers of every size, from the bytes themselves.
            for byte in line { mixed = (mixed ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
            let time = Int64(bitPattern: mixed) >> Int64(line.count % 64)
            records.append(
                ColumnRecord(
                    stream: Int64(line.count % 3),
                    instance: Int64(index % 5),
                    envelope: Envelope(sequence: mixed, time: time, received: time &+ 7),
                    store: UInt64(index),
                    payload: start..<payloads.count
                )
            )
        }
        var encoder = try ColumnBatchEncoder()
        let blob = try payloads.withUnsafeBytes { try encoder.encode(records[...], payloads: $0) }
        let decoder = try ColumnBatchDecoder()
        try blob.withUnsafeBytes { try decoder.open($0) }
        let found = try decoder.payloads()
        guard found.bytes == payloads, found.ends == records.map(\.payload.upperBound) else {
            return "\(lines.count) payloads came back as others"
        }
        for (back, record) in zip(try decoder.envelopes(), records) {
            guard back.envelope == record.envelope, back.store == record.store,
                back.stream == record.stream, back.instance == record.instance
            else { return "record \(record.store) came back with other numbers" }
        }
        return try search(decoder, records, payloads)
    }

    /// What the columns are searched for is found where it stands, and nowhere else.
    private static func search(
        _ decoder: ColumnBatchDecoder,
        _ records: [ColumnRecord],
        _ payloads: [UInt8]
    ) throws -> String? {
        guard let some = records.first(where: { $0.payload.count >= 3 })?.payload else {
            return nil
        }
        let bytes = payloads[some.lowerBound..<some.lowerBound + 3]
        // A text is UTF-8 in either case, and escapes make two texts of one.
        guard bytes.allSatisfy({ $0 < 0x80 && $0 != 0x5c }), !payloads.contains(0x5c) else {
            return nil
        }
        let pattern = TextPattern(String(decoding: bytes, as: UTF8.self))
        let found = Set(try decoder.search(pattern))
        for (index, record) in records.enumerated() {
            let payload = payloads[record.payload].map { pattern.ignoresCase ? lower($0) : $0 }
            let isThere = holds(payload, Array(pattern.text.utf8))
            if isThere != found.contains(Int32(index)) {
                return "'\(pattern.text)' is \(isThere ? "not " : "")found in record \(index)"
            }
        }
        return nil
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    private static func holds(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { start in
            text[start..<start + part.count].elementsEqual(part)
        }
    }
}
