internal import Basics
internal import Compression
internal import Telemetry

/// A batch as it is stored.
struct EncodedBatch {
    var row: BatchRow
    var groups: [BatchGroup]
    var checksum: UInt32
    var data: [UInt8]
}

/// The blob of a batch, little-endian.
///
///     magic "iSB1" 4 | format 1 | flags 1 | records varint | payload bytes varint |
///     CRC-32C 4 | length of frame 1 varint | frame 1 | frame 2
///
/// Frame 1 holds `EnvelopeColumns`, frame 2 the payloads one after another; both are zstd frames
/// with their own checksum of what they unpack to. The CRC is over all other bytes of the blob:
/// what is packed is a tenth of what is raw, and zstd's checksum covers that.
enum BatchBlob {
    static let magic: [UInt8] = Array("iSB1".utf8)
    static let format: UInt8 = 1
}

/// Packs records into batches.
///
/// One thread owns it.
struct BatchEncoder: ~Copyable {
    private let zstd: ZstdCompressor

    init() throws(CompressionError) {
        zstd = try ZstdCompressor(level: SpoolLimits.level)
    }

    /// How many entries from `start` on make the next batch.
    static func length(_ batch: RecordBatch, from start: Int) -> Int {
        var bytes = 0
        var end = start
        let most = min(batch.entries.count, start + SpoolLimits.batchRecords)
        while end < most {
            bytes += batch.entries[end].payload.count
            if bytes > SpoolLimits.batchPayloadBytes, end > start { break }
            end += 1
        }
        return end - start
    }

    /// Packs entries of `batch`; `groupOf` has the group of each of them.
    func encode(
        _ batch: RecordBatch,
        _ range: Range<Int>,
        groupOf: [Int],
        groups: [BatchGroup],
        firstStore: UInt64
    ) throws(CompressionError) -> EncodedBatch {
        let entries = batch.entries[range]
        var row = BatchRow(firstStore: firstStore)
        row.count = entries.count
        var isOneRun = true
        var end = entries.first?.payload.lowerBound ?? 0
        for entry in entries {
            row.t0 = min(row.t0, entry.envelope.order)
            row.t1 = max(row.t1, entry.envelope.order)
            row.time0 = min(row.time0, entry.envelope.time)
            row.time1 = max(row.time1, entry.envelope.time)
            row.raw += entry.payload.count
            if entry.payload.lowerBound != end { isOneRun = false }
            end = entry.payload.upperBound
        }
        let columns = EnvelopeColumns.encode(entries, groupOf: groupOf, groups: groups)
        var frame: [UInt8] = []
        try pack(columns, 0..<columns.count, appendingTo: &frame)
        let envelopeLength = frame.count
        if isOneRun {
            try pack(batch.payloads, end - row.raw..<end, appendingTo: &frame)
        } else {
            var gathered: [UInt8] = []
            gathered.reserveCapacity(row.raw)
            for entry in entries { gathered.append(contentsOf: batch.payloads[entry.payload]) }
            try pack(gathered, 0..<gathered.count, appendingTo: &frame)
        }
        return Self.finish(row, groups, frame, envelopeLength)
    }

    private static func finish(
        _ row: BatchRow,
        _ groups: [BatchGroup],
        _ frames: [UInt8],
        _ envelopeLength: Int
    ) -> EncodedBatch {
        var writer = ByteWriter(capacity: frames.count + 32)
        writer.raw(BatchBlob.magic)
        writer.u8(BatchBlob.format)
        writer.u8(0)
        writer.varint(UInt64(row.count))
        writer.varint(UInt64(row.raw))
        let place = writer.count
        let head = Checksum.crc32c(writer.bytes)
        writer.u32(0)
        writer.varint(UInt64(envelopeLength))
        writer.raw(frames)
        let sum = writer.bytes.withUnsafeBytes {
            Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[(place + 4)...]), from: head)
        }
        writer.patch(u32: sum, at: place)
        return EncodedBatch(row: row, groups: groups, checksum: sum, data: writer.bytes)
    }

    private func pack(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        appendingTo out: inout [UInt8]
    ) throws(CompressionError) {
        let start = out.count
        let room = ZstdCompressor.bound(range.count)
        var failure: CompressionError?
        out.reserveCapacity(start + room)
        let packed = [UInt8](unsafeUninitializedCapacity: room) { memory, count in
            bytes.withUnsafeBytes { source in
                do throws(CompressionError) {
                    count = try zstd.compress(
                        UnsafeRawBufferPointer(rebasing: source[range]),
                        into: UnsafeMutableRawBufferPointer(memory)
                    )
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        out.append(contentsOf: packed)
    }
}
