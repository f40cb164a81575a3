internal import Basics
internal import Compression
internal import Telemetry

/// Why a batch cannot be read, in a few words.
package struct DamagedBatch: Error {
    package var reason: String
}

/// Unpacks batches whose bytes may be anything.
///
/// One thread owns it.
struct BatchDecoder: ~Copyable {
    private let zstd: ZstdDecompressor
    private var scratch: [UInt8] = []
    /// Payloads while they are searched: most batches are not needed after that, and memory that is
    /// kept costs no page faults.
    private var room: [UInt8] = []

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

    /// The records of a batch, and its payloads where they are wanted.
    ///
    /// Where `text` occurs in none of the payloads, the records stay packed and the result is nil.
    /// `row` and `checksum` are the plain columns beside the blob: all must agree.
    mutating func decode(
        _ blob: UnsafeRawBufferPointer,
        row: BatchRow,
        groups: [BatchGroup],
        checksum: Int64,
        withPayload: Bool,
        text: TextPattern?
    ) throws(DamagedBatch) -> (EnvelopeColumns.Decoded, [UInt8])? {
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
            var payload: [UInt8] = []
            if let text {
                guard let found = try search(head, text) else { return nil }
                payload = found
            } else if withPayload {
                try zstd.decompress(head.payload, limit: head.raw, into: &payload)
                try Self.check(payload.count, head)
            }
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
            return (columns, payload)
        } catch let error as DamagedBatch {
            throw error
        } catch {
            throw DamagedBatch(reason: "\(error)")
        }
    }

    /// The payloads, if the text may occur in them.
    private mutating func search(_ head: Head, _ text: TextPattern) throws -> [UInt8]? {
        if room.count < head.raw { room = [UInt8](repeating: 0, count: head.raw) }
        let result = room.withUnsafeMutableBytes { room in
            Result { () throws(CompressionError) -> [UInt8]? in
                let target = UnsafeMutableRawBufferPointer(rebasing: room[..<head.raw])
                let count = try zstd.decompress(head.payload, into: target)
                let payload = UnsafeRawBufferPointer(rebasing: target[..<count])
                return count < head.raw || text.mayOccur(in: payload) ? Array(payload) : nil
            }
        }
        guard let payload = try result.get() else { return nil }
        try Self.check(payload.count, head)
        return payload
    }

    private static func check(_ count: Int, _ head: Head) throws(DamagedBatch) {
        if count != head.raw { throw DamagedBatch(reason: "payloads shorter than declared") }
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
