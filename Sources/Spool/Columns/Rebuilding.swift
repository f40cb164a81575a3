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
        guard found.bytes.count == head.raw,
            found.bytes.withUnsafeBytes({ XXHash64.hash($0) }) == head.checksum
        else {
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
        if case .rows(let bytes) = content { return try cutRows(bytes, indexes) }
        guard let image = try image() else { throw DamagedBatch(reason: "no batch is open") }
        return try rebuild(image, indexes)
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
        let plan = try prepare(image, shapeOf, indexes, raw)
        var row = 0
        var out = Payloads()
        out.ends.reserveCapacity(indexes?.count ?? image.records)
        var next = 0
        var isOver = false
        out.bytes = [UInt8](unsafeUninitializedCapacity: raw + Self.slack) { room, made in
            guard let base = room.baseAddress else { return }
            var writer = RecordWriter(base, limit: raw, plan)
            for index in 0..<image.records {
                let shape = Int(shapeOf[index])
                if let indexes {
                    guard next < indexes.count else { break }
                    guard indexes[next] == Int32(truncatingIfNeeded: index) else {
                        if shape == image.shapes.count { row += 1 } else { writer.skip(shape) }
                        continue
                    }
                    next += 1
                }
                if shape == image.shapes.count {
                    writer.append(image.rows[row])
                    row += 1
                } else {
                    writer.append(shape: shape)
                }
                if writer.isOver { break }
                out.ends.append(writer.count)
            }
            isOver = writer.isOver
            made = isOver ? 0 : writer.count
        }
        if isOver { throw DamagedBatch(reason: "longer than declared") }
        // A few records do not keep the room of all.
        if out.bytes.count < raw / 4 { out.bytes = out.bytes.withUnsafeBytes { Array($0) } }
        return out
    }

    /// Room behind the payloads that short copies may write to.
    private static let slack = 64

    /// Makes the programs of all shapes, and unpacks the columns of those that are wanted.
    private func prepare(
        _ image: ColumnImage,
        _ shapeOf: UnsafePointer<Int64>,
        _ indexes: [Int32]?,
        _ raw: Int
    ) throws(DamagedBatch) -> RebuildPlan {
        let plan: RebuildPlan
        if let known = self.plan {
            plan = known
        } else {
            plan = try RebuildPlan(image, arena, raw: raw)
            self.plan = plan
        }
        var wanted = [Bool](repeating: indexes == nil, count: image.shapes.count + 1)
        for index in indexes ?? [] { wanted[Int(shapeOf[Int(index)])] = true }
        for shape in image.shapes.indices where wanted[shape] {
            for step in plan.steps[shape] where step.column >= 0 {
                let column = Int(step.column)
                if plan.values[column].isEmpty { plan.values[column] = try values(column, image) }
            }
        }
        plan.cursors.update(repeating: 0, count: image.counts.count)
        for column in image.counts.indices { plan.values[column].pattern?.rewind() }
        return plan
    }
}

/// What rebuilding needs of a batch, in memory of the arena.
struct RebuildPlan {
    /// How to write each shape.
    let steps: UnsafeMutablePointer<UnsafeBufferPointer<ShapeProgram.Step>>
    /// Columns, empty until they are unpacked.
    let values: UnsafeMutablePointer<ColumnBatchDecoder.Values>
    /// The next value of each column.
    let cursors: UnsafeMutablePointer<Int>

    init(_ image: ColumnImage, _ arena: Arena, raw: Int) throws(DamagedBatch) {
        let columns = image.counts.count
        steps = try arena.allocate(
            UnsafeBufferPointer<ShapeProgram.Step>.self,
            image.shapes.count
        )
        for (index, shape) in image.shapes.enumerated() {
            let program = try ShapeProgram(shape, image, arena, raw: raw).steps
            let copy = try arena.allocate(ShapeProgram.Step.self, program.count)
            for (place, step) in program.enumerated() { (copy + place).initialize(to: step) }
            let buffer = UnsafeBufferPointer<ShapeProgram.Step>(
                start: copy,
                count: program.count
            )
            (steps + index).initialize(to: buffer)
        }
        values = try arena.allocate(ColumnBatchDecoder.Values.self, columns)
        values.initialize(repeating: ColumnBatchDecoder.Values(), count: columns)
        cursors = try arena.allocate(Int.self, columns)
    }
}

/// Writes records where a batch is rebuilt.
///
/// Invariants:
/// 1. Nothing is written beyond `limit` but the slack of short copies.
/// 2. A column is read as often as the shapes' uses say, which is how many values it has.
private struct RecordWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private let limit: Int
    private let plan: RebuildPlan
    private(set) var count = 0
    /// True once a record did not fit.
    private(set) var isOver = false

    init(_ base: UnsafeMutablePointer<UInt8>, limit: Int, _ plan: RebuildPlan) {
        self.base = base
        self.limit = limit
        self.plan = plan
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

    /// Writes the next record of a shape.
    mutating func append(shape: Int) {
        for step in plan.steps[shape] {
            append(step.literal)
            if isOver || step.column < 0 { return }
            let column = Int(step.column)
            let place = plan.cursors[column]
            plan.cursors[column] = place + 1
            let values = plan.values[column]
            if let pattern = values.pattern {
                append(pattern, place)
            } else if let integers = values.integers {
                // A number may end up to 20 bytes beyond the limit, within the slack.
                count += NumberPrinter.write(integers[place], to: base + count)
                if count > limit { isOver = true }
            } else if let pieces = values.pieces {
                if let ids = values.ids {
                    append(pieces[Int(ids[place])])
                } else {
                    append(pieces[place])
                }
            }
            if isOver { return }
        }
    }

    @inline(__always)
    private mutating func append(_ pattern: PatternValues, _ place: Int) {
        let program = pattern.program(place)
        for run in 0..<program.runs {
            append(program.literals[run])
            if isOver { return }
            count += pattern.writeNext(program.columns[run], to: base + count)
            if count > limit {
                isOver = true
                return
            }
        }
        append(program.tail)
    }

    /// Steps over the next record of a shape.
    mutating func skip(_ shape: Int) {
        for step in plan.steps[shape] where step.column >= 0 {
            let column = Int(step.column)
            let place = plan.cursors[column]
            plan.cursors[column] = place + 1
            plan.values[column].pattern?.skip(place)
        }
    }
}
