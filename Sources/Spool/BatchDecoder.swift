internal import Basics
internal import Compression
internal import Telemetry

/// Why a batch cannot be read, in a few words.
struct DamagedBatch: Error {
    var reason: String
}

/// Unpacks batches whose bytes may be anything.
///
/// One thread owns it.
struct BatchDecoder: ~Copyable {
    private let zstd: ZstdDecompressor
    private var scratch: [UInt8] = []

    init() throws(CompressionError) {
        zstd = try ZstdDecompressor(windowLogMax: SpoolLimits.windowLogMax)
    }

    /// What the head of a blob says, once its checksum has been found right.
    private struct Head {
        var count: Int
        var raw: Int
        var envelope: UnsafeRawBufferPointer
        var payload: UnsafeRawBufferPointer
    }

    /// The records of a batch, and its payloads where `payload` is not nil.
    ///
    /// `row` and `checksum` are the plain columns beside the blob: all must agree.
    mutating func decode(
        _ blob: UnsafeRawBufferPointer,
        row: BatchRow,
        groups: [BatchGroup],
        checksum: Int64,
        withPayload: Bool
    ) throws(DamagedBatch) -> (EnvelopeColumns.Decoded, [UInt8]) {
        let head: Head
        do {
            head = try Self.head(blob, checksum)
        } catch let error as DamagedBatch {
            throw error
        } catch {
            throw DamagedBatch(reason: "cut off")
        }
        guard head.count == row.count, head.raw == row.raw else {
            throw DamagedBatch(reason: "counts differ from its row")
        }
        do {
            let limit = head.count * SpoolLimits.envelopeBytesMax
            try zstd.decompress(head.envelope, limit: limit, into: &scratch)
            let columns = scratch.withUnsafeBytes {
                EnvelopeColumns.decode(
                    $0,
                    count: head.count,
                    groups: groups,
                    payloadBytes: head.raw
                )
            }
            guard let columns else { throw DamagedBatch(reason: "envelope columns make no sense") }
            guard withPayload else { return (columns, []) }
            let payload = try zstd.decompress(head.payload, limit: head.raw)
            guard payload.count == head.raw else {
                throw DamagedBatch(reason: "payloads shorter than declared")
            }
            return (columns, payload)
        } catch let error as DamagedBatch {
            throw error
        } catch {
            throw DamagedBatch(reason: "\(error)")
        }
    }

    private static func head(_ blob: UnsafeRawBufferPointer, _ checksum: Int64) throws -> Head {
        var reader = ByteReader(blob)
        let magic = try reader.raw(BatchBlob.magic.count)
        guard magic.elementsEqual(BatchBlob.magic) else { throw DamagedBatch(reason: "no magic") }
        let format = try reader.u8()
        guard format == BatchBlob.format else {
            throw DamagedBatch(reason: "format \(format) is not known")
        }
        let flags = try reader.u8()
        let count = try reader.varint()
        let raw = try reader.varint()
        let place = reader.offset
        let sum = try reader.u32()
        let found = Checksum.crc32c(
            UnsafeRawBufferPointer(rebasing: blob[(place + 4)...]),
            from: Checksum.crc32c(UnsafeRawBufferPointer(rebasing: blob[..<place]))
        )
        guard sum == found, Int64(sum) == checksum else {
            throw DamagedBatch(reason: "checksum differs")
        }
        guard flags == 0 else { throw DamagedBatch(reason: "flags \(flags) are not known") }
        guard count > 0, count <= UInt64(SpoolLimits.batchRecords),
            raw <= UInt64(Limits.batchRawBytesMax)
        else { throw DamagedBatch(reason: "larger than allowed") }
        let length = Int(clamping: try reader.varint())
        let envelope = try reader.raw(length)
        let payload = try reader.raw(reader.remaining)
        return Head(count: Int(count), raw: Int(raw), envelope: envelope, payload: payload)
    }
}
