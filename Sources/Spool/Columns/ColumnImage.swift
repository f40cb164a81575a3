internal import Basics

/// Frame 2 of a batch in columns, unpacked: shapes, which record has which, and the directory of
/// columns.
///
///     length of the description varint | bytes of numbers varint | bytes of ids varint |
///     description | numbers | ids | texts
///
/// Invariants:
/// 1. Each shape has a use, uses and rows together are the records, and no shape's values come to
///    more than the batch's raw bytes: so the counts of all columns are bounded before use.
/// 2. Every byte of every lane belongs to exactly one column.
struct ColumnImage {
    let records: Int
    /// Its shapes with literals, uses and columns.
    private(set) var shapes: [Shape] = []
    private(set) var paths: [ColumnPaths.Column] = []
    /// Values in each column.
    private(set) var counts: [Int] = []
    private(set) var nodes: [TextNode] = []
    /// Payloads that have no shape.
    private(set) var rows: [Piece] = []
    /// Texts of the shapes.
    private(set) var shapeTexts: [Piece] = []
    private let shapeIDs: IntegerNode

    /// Reads the directory of an unpacked frame, and checks all of it but the values.
    init(
        _ lanes: LaneReader,
        records: Int,
        raw: Int
    ) throws(DamagedBatch) {
        self.records = records
        var reader = lanes
        shapes = try Self.readShapes(&reader, records: records, texts: &shapeTexts)
        let used = try Self.readUses(&reader, &shapes, records: records)
        shapeIDs = try IntegerNode(&reader, count: records, lane: .ids)
        rows = try Self.readRows(&reader, count: records - used)
        try Self.checkValues(shapes, raw: raw)
        var derived = ColumnPaths()
        for index in shapes.indices { derived.assign(&shapes[index]) }
        paths = derived.columns
        counts = [Int](repeating: 0, count: paths.count)
        for shape in shapes {
            for column in shape.columns { counts[Int(column)] += shape.uses }
        }
        nodes.reserveCapacity(counts.count)
        for count in counts { nodes.append(try TextNode(&reader, count: count)) }
        guard reader.isAtEnd else { throw DamagedBatch(reason: "bytes left over") }
    }

    /// Shape of each record, `shapes.count` for a row; each shape as often as it says it is used.
    func shapeOfRecords(_ arena: Arena) throws(DamagedBatch) -> UnsafePointer<Int64> {
        let found = try shapeIDs.decodeIDs(arena, limit: shapes.count + 1)
        var seen = [Int](repeating: 0, count: shapes.count + 1)
        for index in 0..<records { seen[Int(found[index])] += 1 }
        for (shape, count) in zip(shapes, seen) where shape.uses != count {
            throw DamagedBatch(reason: "uses of shapes differ")
        }
        return found
    }

    /// Finds the description and the lanes of an unpacked frame.
    static func lanes(_ image: UnsafeRawBufferPointer) throws(DamagedBatch) -> LaneReader {
        do {
            var head = ByteReader(image)
            let lengths = (try head.varint(), try head.varint(), try head.varint())
            return LaneReader(
                meta: try head.raw(Int(clamping: lengths.0)),
                numbers: try head.raw(Int(clamping: lengths.1)),
                ids: try head.raw(Int(clamping: lengths.2)),
                texts: try head.raw(head.remaining)
            )
        } catch {
            throw .cutOff
        }
    }

    /// Each shape's text is its literals and markers in turn, ended by a zero.
    private static func readShapes(
        _ reader: inout LaneReader,
        records: Int,
        texts: inout [Piece]
    ) throws(DamagedBatch) -> [Shape] {
        let count = try reader.count(limit: records)
        guard let all = Piece(try TextNode.texts(&reader)) else {
            if count == 0 { return [] }
            throw .cutOff
        }
        var shapes: [Shape] = []
        shapes.reserveCapacity(count)
        var start = 0
        var from = 0
        var shape = Shape(literals: [], kinds: [])
        for index in 0..<all.count {
            let byte = all.start[index]
            guard byte <= Shape.bare else { continue }
            shape.literals.append(Piece(start: all.start + from, count: index - from))
            from = index + 1
            if byte != Shape.end {
                shape.kinds.append(byte)
                continue
            }
            shapes.append(shape)
            texts.append(Piece(start: all.start + start, count: index - start))
            start = from
            shape = Shape(literals: [], kinds: [])
        }
        guard start == all.count, shapes.count == count else {
            throw DamagedBatch(reason: "shapes make no sense")
        }
        return shapes
    }

    /// Fills in how often each shape is used; the result is the sum.
    private static func readUses(
        _ reader: inout LaneReader,
        _ shapes: inout [Shape],
        records: Int
    ) throws(DamagedBatch) -> Int {
        let uses = try IntegerNode(&reader, count: shapes.count, lane: .ids)
        var values = [Int64](repeating: 0, count: shapes.count)
        values.withUnsafeMutableBufferPointer {
            if let base = $0.baseAddress { uses.decode(into: base) }
        }
        var total = 0
        for (index, value) in values.enumerated() {
            guard value > 0, value <= Int64(records - total) else {
                throw DamagedBatch(reason: "uses of shapes make no sense")
            }
            shapes[index].uses = Int(value)
            total += Int(value)
        }
        return total
    }

    private static func readRows(
        _ reader: inout LaneReader,
        count: Int
    ) throws(DamagedBatch) -> [Piece] {
        let lengths = try IntegerNode(&reader, count: count, lane: .ids)
        var values = [Int64](repeating: 0, count: count)
        values.withUnsafeMutableBufferPointer {
            if let base = $0.baseAddress { lengths.decode(into: base) }
        }
        var rows: [Piece] = []
        rows.reserveCapacity(count)
        for value in values {
            guard value >= 0, let row = Piece(try reader.takeTexts(Int(value))) else {
                throw .cutOff
            }
            rows.append(row)
        }
        return rows
    }

    /// All values together are at most the raw bytes, as each has one or a quote.
    private static func checkValues(_ shapes: [Shape], raw: Int) throws(DamagedBatch) {
        var left = raw
        for shape in shapes {
            let (values, isOver) = shape.kinds.count.multipliedReportingOverflow(by: shape.uses)
            guard !isOver, values <= left else {
                throw DamagedBatch(reason: "more values than bytes")
            }
            left -= values
        }
    }
}
