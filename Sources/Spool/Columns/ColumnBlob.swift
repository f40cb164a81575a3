internal import Basics
internal import Telemetry

/// The head of a cold batch; docs/spool-format.md has it byte by byte.
///
///     magic "iSC1" 4 | format 1 | layout 1 | records varint | payload bytes varint |
///     XXH64 of the payloads 8 | CRC-32C of all other bytes 4 |
///     length of frame 1 varint | frame 1 | frame 2
///
/// Frame 1 holds `ColdEnvelope`, frame 2 the payloads, as columns or one after another; both are
/// zstd frames with a checksum of their own.
struct ColumnBlob {
    static let magic: [UInt8] = Array("iSC1".utf8)
    static let format: UInt8 = 1

    /// How frame 2 holds the payloads.
    enum Layout: UInt8 {
        case rows = 0
        case columns = 1
    }

    var layout: Layout
    var count: Int
    var raw: Int
    /// Of the payloads, one after another.
    var checksum: UInt64
    /// Of the blob.
    var sum: UInt32
    var envelope: UnsafeRawBufferPointer
    var payload: UnsafeRawBufferPointer

    /// Puts a blob together.
    static func assemble(
        layout: Layout,
        count: Int,
        raw: Int,
        checksum: UInt64,
        envelope: [UInt8],
        payload: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: envelope.count + payload.count + 40)
        writer.raw(magic)
        writer.u8(format)
        writer.u8(layout.rawValue)
        writer.varint(UInt64(count))
        writer.varint(UInt64(raw))
        writer.u64(checksum)
        let place = writer.count
        writer.u32(0)
        writer.varint(UInt64(envelope.count))
        writer.raw(envelope)
        writer.raw(payload)
        let sum = writer.bytes.withUnsafeBytes { Self.sum($0, without: place) }
        writer.patch(u32: sum, at: place)
        return writer.bytes
    }

    /// Checks the head and the checksum of the blob.
    init(_ blob: UnsafeRawBufferPointer) throws(DamagedBatch) {
        do {
            self = try Self.read(blob)
        } catch let error as DamagedBatch {
            throw error
        } catch {
            throw DamagedBatch(reason: "cut off")
        }
    }

    private init(
        layout: Layout,
        count: Int,
        raw: Int,
        checksum: UInt64,
        sum: UInt32,
        frames: (envelope: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer)
    ) {
        self.layout = layout
        self.count = count
        self.raw = raw
        self.checksum = checksum
        self.sum = sum
        (envelope, payload) = frames
    }

    private static func read(_ blob: UnsafeRawBufferPointer) throws -> ColumnBlob {
        var reader = ByteReader(blob)
        let magic = try reader.raw(Self.magic.count)
        guard magic.elementsEqual(Self.magic) else { throw DamagedBatch(reason: "no magic") }
        let format = try reader.u8()
        guard format == Self.format else {
            throw DamagedBatch(reason: "format \(format) is not known")
        }
        let number = try reader.u8()
        let count = try reader.varint()
        let raw = try reader.varint()
        let checksum = try reader.u64()
        let place = reader.offset
        let sum = try reader.u32()
        guard sum == Self.sum(blob, without: place) else {
            throw DamagedBatch(reason: "checksum differs")
        }
        guard let layout = Layout(rawValue: number) else {
            throw DamagedBatch(reason: "layout \(number) is not known")
        }
        let limit = layout == .columns ? ColumnLimits.rawMax : Limits.batchRawBytesMax
        guard count > 0, count <= UInt64(SpoolLimits.batchRecords), raw <= UInt64(limit) else {
            throw DamagedBatch(reason: "larger than allowed")
        }
        let length = Int(clamping: try reader.varint())
        let envelope = try reader.raw(length)
        return ColumnBlob(
            layout: layout,
            count: Int(count),
            raw: Int(raw),
            checksum: checksum,
            sum: sum,
            frames: (envelope, try reader.raw(reader.remaining))
        )
    }

    /// CRC-32C of a blob without the four bytes at `place`.
    private static func sum(_ blob: UnsafeRawBufferPointer, without place: Int) -> UInt32 {
        Checksum.crc32c(
            UnsafeRawBufferPointer(rebasing: blob[(place + 4)...]),
            from: Checksum.crc32c(UnsafeRawBufferPointer(rebasing: blob[..<place]))
        )
    }
}
