internal import Basics
internal import Compression
internal import Telemetry

/// Opens cold batches, whose bytes may be anything, one at a time.
///
/// Invariants:
/// 1. Every byte from outside is checked before use: any bytes end in `DamagedBatch` or in records.
/// 2. Memory is bounded by the raw size that the head declares, which is checked first.
/// 3. Columns are unpacked when somebody asks for what is in them, and then kept until the next
///    `open`.
///
/// One thread owns it; memory is kept from batch to batch.
package final class ColumnBatchDecoder {
    private let zstd: ZstdDecompressor
    let arena = Arena(limit: ColumnLimits.memoryMax)
    private var blob: ColumnBlob?
    private(set) var content = Content.nothing
    private var shapeOf: UnsafePointer<Int64>?
    private var numbers: [ColumnRecord]?

    /// What frame 2 unpacked to.
    enum Content {
        case nothing
        case rows(UnsafeRawBufferPointer)
        case columns(LaneReader)
    }

    /// A decoder with no batch in it.
    package init() throws {
        // The blob has a checksum of its own, over the packed bytes.
        zstd = try ZstdDecompressor(windowLogMax: SpoolLimits.windowLogMax, checks: false)
    }

    /// Takes a batch in: checks the head and unpacks the columns.
    ///
    /// Their directory is read, and checked, when it is first needed. What was read from the batch
    /// before is gone.
    package func open(_ bytes: UnsafeRawBufferPointer) throws(DamagedBatch) {
        close()
        // The blob is copied so that views into it stay good until the next one.
        let size = bytes.count
        let copy = try arena.allocate(UInt8.self, size)
        UnsafeMutableRawBufferPointer(start: copy, count: size).copyMemory(from: bytes)
        let head = try ColumnBlob(UnsafeRawBufferPointer(start: copy, count: size))
        let payload = try unpack(head.payload, limit: head.raw)
        if head.layout == .rows {
            guard payload.count == head.raw else {
                throw DamagedBatch(reason: "payloads shorter than declared")
            }
            content = .rows(payload)
        } else {
            content = .columns(try ColumnImage.lanes(payload))
        }
        blob = head
    }

    private func close() {
        content = .nothing
        blob = nil
        shapeOf = nil
        numbers = nil
        plan = nil
        directoryRead = nil
        arena.reset()
    }

    /// Records in the batch.
    package var count: Int { blob?.count ?? 0 }
    /// Bytes of all payloads together.
    package var raw: Int { blob?.raw ?? 0 }
    /// The checksum of the blob.
    var sum: UInt32 { blob?.sum ?? 0 }
    /// True if the payloads are in columns, false if they are rows.
    package var isColumnar: Bool { if case .columns = content { true } else { false } }

    /// The numbers of all records in batch order; payloads' ranges are those in `payloads()`, or
    /// empty where the batch is in columns.
    package func envelopes() throws(DamagedBatch) -> [ColumnRecord] {
        if let numbers { return numbers }
        let head = try head()
        let limit = head.count * ColumnLimits.envelopeBytesMax
        let bytes = try unpack(head.envelope, limit: limit)
        let found = try ColdEnvelope.decode(bytes, head, arena)
        numbers = found
        return found
    }

    private var directoryRead: ColumnImage?

    /// The directory of the columns; nil where the payloads are rows.
    func image() throws(DamagedBatch) -> ColumnImage? {
        if let directoryRead { return directoryRead }
        let head = try head()
        guard case .columns(let lanes) = content else { return nil }
        let found = try ColumnImage(lanes, records: head.count, raw: head.raw)
        directoryRead = found
        return found
    }

    func head() throws(DamagedBatch) -> ColumnBlob {
        guard let blob else { throw DamagedBatch(reason: "no batch is open") }
        return blob
    }

    /// Unpacks a frame into memory of the arena.
    private func unpack(
        _ frame: UnsafeRawBufferPointer,
        limit: Int
    ) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        do {
            let size = try ZstdDecompressor.contentSize(frame, limit: limit)
            let room = try arena.allocate(UInt8.self, size)
            let target = UnsafeMutableRawBufferPointer(start: room, count: size)
            let written = try zstd.decompress(frame, into: target)
            guard written == size else { throw DamagedBatch(reason: "shorter than declared") }
            return UnsafeRawBufferPointer(target)
        } catch let error as DamagedBatch {
            throw error
        } catch {
            throw DamagedBatch(reason: "\(error)")
        }
    }

    // MARK: Columns, unpacked on demand

    /// A column as the rebuilding reads it.
    struct Values {
        var pieces: UnsafePointer<Piece>?
        /// Numbers to print, where the column is one of integers.
        var integers: UnsafePointer<Int64>?
        /// Entries of a dictionary, which then are `pieces`.
        var ids: UnsafePointer<Int64>?
        /// What makes the texts, where the column is one of templates.
        var pattern: PatternValues?

        /// True until the column is unpacked.
        var isEmpty: Bool { pieces == nil && integers == nil && pattern == nil }
    }

    /// Nil until something is rebuilt.
    var plan: RebuildPlan?

    /// The values of a column.
    func values(_ column: Int, _ image: ColumnImage) throws(DamagedBatch) -> Values {
        let count = image.counts[column]
        let found: Values
        switch image.nodes[column] {
        case .integers(let node):
            found = Values(integers: try node.decode(arena))
        case .dictionary(let entries, let limit, let ids):
            let texts = try entries.decode(arena, count: limit)
            found = Values(pieces: texts, ids: try ids.decodeIDs(arena, limit: limit))
        case .pattern(let node):
            found = Values(pattern: try node.open(arena))
        default:
            found = Values(pieces: try image.nodes[column].decode(arena, count: count))
        }
        return found
    }

    /// Shape of each record.
    func shapes(_ image: ColumnImage) throws(DamagedBatch) -> UnsafePointer<Int64> {
        if let shapeOf { return shapeOf }
        let found = try image.shapeOfRecords(arena)
        shapeOf = found
        return found
    }

}
