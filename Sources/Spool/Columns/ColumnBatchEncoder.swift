internal import Basics
internal import Compression
internal import Telemetry

/// Packs sorted records into cold batches: columns, or rows where columns are not smaller.
///
/// One thread owns it; what it needs to work is kept from call to call.
package struct ColumnBatchEncoder: ~Copyable {
    private let zstd: ZstdCompressor
    /// Tells at a tenth of the cost how rows would do beside columns.
    private let quick: ZstdCompressor
    private var table = ShapeTable()
    private var lanes = Lanes()
    private var image: [UInt8] = []
    /// True if the lanes are of the batch that was packed last.
    private var hasLanes = false

    /// An encoder of zstd level 9, the level of the cold tier.
    package init() throws {
        // Both made before either is kept: half of a noncopyable value cannot be given back.
        let cold = try ZstdCompressor(
            level: SpoolLimits.coldLevel,
            tuning: ZstdCompressor.Tuning(
                searchLog: SpoolLimits.coldSearchLog,
                hashLog: SpoolLimits.coldHashLog,
                minMatch: SpoolLimits.coldMinMatch
            )
        )
        let hot = try ZstdCompressor(level: SpoolLimits.level)
        zstd = cold
        quick = hot
    }

    /// Packs records, whose payloads are ranges of `payloads`; at least one record.
    ///
    /// - Throws: where zstd has no memory, and where a range is not in `payloads`.
    package mutating func encode(
        _ records: ArraySlice<ColumnRecord>,
        payloads: UnsafeRawBufferPointer
    ) throws -> [UInt8] {
        var raw = 0
        hasLanes = false
        for record in records {
            guard record.payload.upperBound <= payloads.count else {
                throw DamagedBatch(reason: "a payload is not there")
            }
            raw += record.payload.count
        }
        var layout = ColumnBlob.Layout.rows
        var payload: [UInt8] = []
        if raw <= ColumnLimits.rawMax {
            let cuts = buildImage(records, payloads)
            if image.count <= raw {
                layout = .columns
                try image.withUnsafeBytes {
                    try zstd.compress($0, cuts: cuts, appendingTo: &payload)
                }
            }
        }
        var gathered: [UInt8] = []
        let whole = Self.run(records, payloads)
        if whole == nil { gathered = gather(records, payloads, raw) }
        let checksum = try gathered.withUnsafeBytes { gathered in
            let whole = whole ?? gathered
            let isDoubtful = image.count > raw / Self.doubtful
            if try layout == .rows || isDoubtful && mayWin(whole, payload.count) {
                var rows: [UInt8] = []
                try zstd.compress(whole, appendingTo: &rows)
                if layout == .rows || rows.count < payload.count {
                    layout = .rows
                    payload = rows
                }
            }
            return XXHash64.hash(whole)
        }
        let envelope = ColdEnvelope.encode(records, lengths: layout == .rows)
        var frame: [UInt8] = []
        try envelope.bytes.withUnsafeBytes {
            try zstd.compress($0, cuts: envelope.cuts, appendingTo: &frame)
        }
        return ColumnBlob.assemble(
            layout: layout,
            count: records.count,
            raw: raw,
            checksum: checksum,
            envelope: frame,
            payload: payload
        )
    }

    /// Hands out what the batch that was packed last has of texts: every token of its payloads
    /// that has no digit is in one of them as a whole, but for escapes that stand for letters.
    ///
    /// False where it has none but the payloads; those must still be in memory.
    func forEachText(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard hasLanes else { return false }
        lanes.texts.bytes.withUnsafeBytes { body($0) }
        for piece in lanes.alone { body(piece.bytes) }
        return true
    }

    /// True if rows are clearly smaller than columns when both are packed fast: where they are not,
    /// they were smaller by 3 % at most in any batch of the corpus, packed well, and to try them
    /// takes a tenth of all the time.
    ///
    /// - Parameter packed: bytes of the columns, packed well.
    private func mayWin(_ rows: UnsafeRawBufferPointer, _ packed: Int) throws -> Bool {
        var sizes = (rows: [UInt8](), columns: [UInt8]())
        try quick.compress(rows, appendingTo: &sizes.rows)
        // To pack well takes half of what is packed fast at the most.
        if sizes.rows.count > packed * 2 { return false }
        try image.withUnsafeBytes { try quick.compress($0, appendingTo: &sizes.columns) }
        let columns = sizes.columns.count
        return sizes.rows.count < columns - columns / 16
    }

    /// Rows are tried too where columns, before zstd, are above this part of the raw bytes: below
    /// it they were larger in no batch of the corpus by more than a few percent.
    private static let doubtful = 5

    /// The payloads where they lie one after another; nil where they do not.
    private static func run(
        _ records: ArraySlice<ColumnRecord>,
        _ payloads: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard let first = records.first else { return nil }
        var end = first.payload.lowerBound
        for record in records {
            if record.payload.lowerBound != end { return nil }
            end = record.payload.upperBound
        }
        return UnsafeRawBufferPointer(rebasing: payloads[first.payload.lowerBound..<end])
    }

    private func gather(
        _ records: ArraySlice<ColumnRecord>,
        _ payloads: UnsafeRawBufferPointer,
        _ raw: Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: raw) { room, count in
            for record in records {
                let range = record.payload
                let source = UnsafeRawBufferPointer(rebasing: payloads[range])
                UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(room)[count...]
                )
                .copyMemory(from: source)
                count += range.count
            }
        }
    }

    /// Makes what frame 2 holds, and says where blocks of it should begin.
    private mutating func buildImage(
        _ records: ArraySlice<ColumnRecord>,
        _ payloads: UnsafeRawBufferPointer
    ) -> [Int] {
        table.reset()
        lanes.reset()
        hasLanes = true
        guard let base = payloads.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            return []
        }
        let pieces = records.lazy.map { record in
            Piece(start: base + record.payload.lowerBound, count: record.payload.count)
        }
        for piece in pieces { table.append(piece) }
        var rows: [Piece] = []
        let columns = table.sortIntoColumns(payloads: pieces, rows: &rows)
        encodeShapes(columns)
        encodeRows(rows)
        columns.values.withUnsafeBufferPointer { values in
            for (column, range) in columns.ranges.enumerated() {
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
        var text: [UInt8] = []
        for shape in columns.shapes {
            for (index, literal) in shape.literals.enumerated() {
                text.append(contentsOf: literal.bytes)
                text.append(index < shape.kinds.count ? shape.kinds[index] : Shape.end)
            }
        }
        lanes.meta.varint(UInt64(columns.shapes.count))
        lanes.meta.varint(UInt64(text.count))
        lanes.texts.append(text.count) { $0.update(from: text, count: text.count) }
        encodeIDs(columns.shapes.map { Int64($0.uses) })
        encodeIDs(columns.shapeOf)
    }

    private mutating func encodeRows(_ rows: [Piece]) {
        encodeIDs(rows.map { Int64($0.count) })
        lanes.alone += rows
        for row in rows {
            lanes.texts.append(row.count) { $0.update(from: row.start, count: row.count) }
        }
    }

    private mutating func encodeIDs(_ values: [Int64]) {
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

    private mutating func assemble() -> [Int] {
        var out = ByteWriter(capacity: 32)
        out.varint(UInt64(lanes.meta.count))
        out.varint(UInt64(lanes.numbers.count))
        out.varint(UInt64(lanes.ids.count))
        image.removeAll(keepingCapacity: true)
        image.append(contentsOf: out.bytes)
        image.append(contentsOf: lanes.meta.bytes)
        var cuts: [Int] = []
        for lane in [lanes.numbers, lanes.ids, lanes.texts] {
            cuts.append(image.count)
            cuts.append(contentsOf: lane.cuts.map { $0 + image.count })
            image.append(contentsOf: lane.bytes)
        }
        return cuts
    }
}
