internal import Basics

extension ColumnBatchDecoder {
    /// Payloads one after another, and where each ends.
    package struct Payloads {
        package var bytes: [UInt8] = []
        package var ends: [Int] = []
    }

    /// All payloads in batch order, compared with the batch's checksum.
    package func payloads() throws(DamagedBatch) -> Payloads {
        let head = try head()
        let found = try rebuild(nil)
        guard found.bytes.count == head.raw, Checksum.crc32c(found.bytes) == head.checksum else {
            throw DamagedBatch(reason: "payloads differ from their checksum")
        }
        return found
    }

    /// The payloads of some records.
    ///
    /// - Parameter indexes: places in the batch, rising; others are an error.
    package func payloads(of indexes: [Int32]) throws(DamagedBatch) -> Payloads {
        var last: Int32 = -1
        for index in indexes {
            guard index > last, Int(index) < count else {
                throw DamagedBatch(reason: "no such record")
            }
            last = index
        }
        return try rebuild(indexes)
    }

    /// `indexes` nil: all.
    private func rebuild(_ indexes: [Int32]?) throws(DamagedBatch) -> Payloads {
        switch content {
        case .nothing: throw DamagedBatch(reason: "no batch is open")
        case .rows(let bytes): return try cutRows(bytes, indexes)
        case .columns(let image): return try rebuild(image, indexes)
        }
    }

    private func cutRows(
        _ bytes: UnsafeRawBufferPointer,
        _ indexes: [Int32]?
    ) throws(DamagedBatch) -> Payloads {
        let ranges = try envelopes().map(\.payload)
        var out = Payloads()
        guard let indexes else {
            out.bytes = Array(bytes)
            out.ends = ranges.map(\.upperBound)
            return out
        }
        for index in indexes {
            out.bytes.append(contentsOf: bytes[ranges[Int(index)]])
            out.ends.append(out.bytes.count)
        }
        return out
    }

    private func rebuild(
        _ image: ColumnImage,
        _ indexes: [Int32]?
    ) throws(DamagedBatch) -> Payloads {
        let raw = try head().raw
        let shapeOf = try shapes(image)
        try prepare(image, shapeOf, indexes, raw)
        var cursors = [Int](repeating: 0, count: image.counts.count)
        var row = 0
        var out = Payloads()
        out.ends.reserveCapacity(indexes?.count ?? image.records)
        var next = 0
        var failure: DamagedBatch?
        out.bytes = [UInt8](unsafeUninitializedCapacity: raw + Self.slack) { room, made in
            guard let base = room.baseAddress else { return }
            var writer = RecordWriter(base, limit: raw, columns: table)
            for index in 0..<image.records {
                if let indexes {
                    guard next < indexes.count else { break }
                    if indexes[next] == Int32(truncatingIfNeeded: index) {
                        next += 1
                    } else {
                        skip(Int(shapeOf[index]), image, &cursors, &row)
                        continue
                    }
                }
                let shape = Int(shapeOf[index])
                if shape == image.shapes.count {
                    writer.append(image.rows[row])
                    row += 1
                } else {
                    writer.append(stepsOf[shape], &cursors)
                }
                if writer.isOver { break }
                out.ends.append(writer.count)
            }
            if writer.isOver { failure = DamagedBatch(reason: "longer than declared") }
            made = writer.isOver ? 0 : writer.count
        }
        if let failure { throw failure }
        return out
    }

    /// Room behind the payloads that short copies may write to.
    private static let slack = 64

    /// Steps over a record.
    private func skip(
        _ shape: Int,
        _ image: ColumnImage,
        _ cursors: inout [Int],
        _ row: inout Int
    ) {
        if shape == image.shapes.count {
            row += 1
        } else {
            for step in stepsOf[shape] where step.column >= 0 { cursors[Int(step.column)] += 1 }
        }
    }

    /// Makes the programs of all shapes, and unpacks the columns of those that are wanted.
    private func prepare(
        _ image: ColumnImage,
        _ shapeOf: UnsafePointer<Int64>,
        _ indexes: [Int32]?,
        _ raw: Int
    ) throws(DamagedBatch) {
        if stepsOf.isEmpty {
            for shape in image.shapes {
                stepsOf.append(try ShapeProgram(shape, image, self, raw: raw).steps)
            }
            table = [Values?](repeating: nil, count: image.counts.count)
        }
        var wanted = [Bool](repeating: indexes == nil, count: image.shapes.count + 1)
        for index in indexes ?? [] { wanted[Int(shapeOf[Int(index)])] = true }
        for shape in image.shapes.indices where wanted[shape] {
            for step in stepsOf[shape] where step.column >= 0 {
                let column = Int(step.column)
                if table[column] == nil { table[column] = try values(column, image) }
            }
        }
    }
}

/// Writes records where a batch is rebuilt.
///
/// Invariant: nothing is written beyond `limit` but the slack of short copies.
private struct RecordWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private let limit: Int
    private let columns: [ColumnBatchDecoder.Values?]
    private(set) var count = 0
    /// True once a record did not fit.
    private(set) var isOver = false

    init(
        _ base: UnsafeMutablePointer<UInt8>,
        limit: Int,
        columns: [ColumnBatchDecoder.Values?]
    ) {
        self.base = base
        self.limit = limit
        self.columns = columns
    }

    @inline(__always)
    mutating func append(_ piece: Piece) {
        guard piece.count <= limit - count else {
            isOver = true
            return
        }
        (base + count).copy(piece)
        count += piece.count
    }

    @inline(__always)
    mutating func append(_ steps: [ShapeProgram.Step], _ cursors: inout [Int]) {
        for step in steps {
            append(step.literal)
            if isOver || step.column < 0 { return }
            let column = Int(step.column)
            let place = cursors[column]
            cursors[column] = place + 1
            guard let values = columns[column] else { continue }
            if let integers = values.integers {
                // A number may end up to 20 bytes beyond the limit, within the slack.
                count += NumberPrinter.write(integers[place], to: base + count)
                if count > limit { isOver = true }
            } else if let ids = values.ids {
                append(values.pieces[Int(ids[place])])
            } else {
                append(values.pieces[place])
            }
            if isOver { return }
        }
    }
}
