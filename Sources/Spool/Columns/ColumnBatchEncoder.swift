internal import Basics
internal import Compression
internal import Telemetry

/// Packs sorted records into cold batches: columns, or rows where columns are not smaller.
///
/// One thread owns it; what it needs to work is kept from call to call.
package struct ColumnBatchEncoder: ~Copyable {
    private let zstd: ZstdCompressor
    private var table = ShapeTable()
    private var lanes = Lanes()
    private var image: [UInt8] = []
    private var packed: [UInt8] = []
    package var debug = ColumnDebug()

    /// An encoder of zstd level 9, the level of the cold tier.
    package init() throws {
        zstd = try ZstdCompressor(level: SpoolLimits.coldLevel)
    }

    /// Packs records, whose payloads are ranges of `payloads`.
    package mutating func encode(
        _ records: ArraySlice<ColumnRecord>,
        payloads: UnsafeRawBufferPointer
    ) throws -> [UInt8] {
        let start = ContinuousClock.now
        let cuts = buildImage(records, payloads)
        let middle = ContinuousClock.now
        packed.removeAll(keepingCapacity: true)
        try image.withUnsafeBytes {
            try zstd.compress($0, cuts: debug.noCuts ? [] : cuts, appendingTo: &packed)
        }
        let envelope = ColdEnvelope.encode(records, lengths: false)
        var frame: [UInt8] = []
        try envelope.withUnsafeBytes {
            try zstd.compress($0, cuts: [], appendingTo: &frame)
        }
        debug.envelope += frame.count
        debug.columns += packed.count
        debug.image += image.count
        debug.build += middle - start
        debug.total += ContinuousClock.now - start
        return frame + packed
    }

    private mutating func buildImage(
        _ records: ArraySlice<ColumnRecord>,
        _ payloads: UnsafeRawBufferPointer
    ) -> [Int] {
        table.reset()
        lanes.reset()
        guard let base = payloads.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            return []
        }
        for record in records {
            let range = record.payload
            table.append(Piece(start: base + range.lowerBound, count: range.count))
        }
        var rows: [Piece] = []
        let columns = table.sortIntoColumns(
            usesMin: debug.usesMin,
            payloads: records.lazy.map { record in
                Piece(start: base + record.payload.lowerBound, count: record.payload.count)
            },
            rows: &rows
        )
        encodeShapes(columns)
        rows.withUnsafeBufferPointer { TextColumn.encodePlain($0, &lanes) }
        for (column, range) in columns.ranges.enumerated() {
            columns.values.withUnsafeBufferPointer { values in
                let pieces = UnsafeBufferPointer(rebasing: values[range])
                if columns.paths[column].kind == Shape.string {
                    TextColumn.encode(pieces, TextColumn.Choice(), &lanes)
                } else {
                    TextColumn.encodeBare(pieces, &lanes)
                }
            }
        }
        return assemble()
    }

    private mutating func encodeShapes(_ columns: SortedColumns) {
        lanes.meta.varint(UInt64(columns.shapes.count))
        for shape in columns.shapes {
            var text: [UInt8] = []
            for (index, literal) in shape.literals.enumerated() {
                text.append(contentsOf: literal.bytes)
                text.append(index < shape.kinds.count ? shape.kinds[index] : Shape.end)
            }
            lanes.texts.append(text.count) { $0.update(from: text, count: text.count) }
        }
        func column(_ values: [Int64]) {
            values.withUnsafeBufferPointer {
                IntegerColumn.encode(
                    $0,
                    withBounds: false,
                    orders: 1...1,
                    meta: &lanes.meta,
                    lane: &lanes.ids
                )
            }
        }
        column(columns.shapes.map { Int64($0.uses) })
        column(columns.shapeOf)
    }

    private mutating func assemble() -> [Int] {
        var out = ByteWriter(capacity: 32)
        out.varint(UInt64(lanes.meta.count))
        out.varint(UInt64(lanes.numbers.count))
        out.varint(UInt64(lanes.ids.count))
        image.removeAll(keepingCapacity: true)
        image.append(contentsOf: out.bytes)
        image.append(contentsOf: lanes.meta.bytes)
        var cuts = [image.count]
        for lane in [lanes.numbers, lanes.ids, lanes.texts] {
            cuts.append(image.count)
            cuts.append(contentsOf: lane.cuts.map { $0 + image.count })
            image.append(contentsOf: lane.bytes)
        }
        return cuts
    }
}

package struct ColumnDebug {
    package var noCuts = false
    package var usesMin = 2
    package var envelope = 0
    package var columns = 0
    package var image = 0
    package var build = Duration.zero
    package var total = Duration.zero
}
