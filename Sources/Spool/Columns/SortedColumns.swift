/// The values of a batch, column after column.
struct SortedColumns {
    /// Shapes that records of the batch have, in the order of first appearance.
    var shapes: [Shape] = []
    /// Shape of each record; `shapes.count` for a plain row.
    var shapeOf: [Int64] = []
    /// Path and kind of each column.
    var paths: [ColumnPaths.Column] = []
    /// Where each column lies in `values`.
    var ranges: [Range<Int>] = []
    var values: [Piece] = []
}

extension ShapeTable {
    /// Values of a column that make it worth having.
    private static let columnUsesMin = 4

    /// Gives each value to its column; records whose shape does not pay go to `rows`.
    func sortIntoColumns(payloads: some Sequence<Piece>, rows: inout [Piece]) -> SortedColumns {
        var out = SortedColumns()
        let kept = keepShapes(&out)
        place(kept, payloads, &rows, &out)
        return out
    }

    /// Takes the shapes that pay.
    ///
    /// Those of several records do, and of the others those most of whose columns are in use
    /// anyway. The result has the new number of each shape, or -1.
    private func keepShapes(_ out: inout SortedColumns) -> [Int] {
        var paths = ColumnPaths()
        var all = shapes
        for index in all.indices { paths.assign(&all[index]) }
        var uses = [Int](repeating: 0, count: paths.columns.count)
        for shape in all {
            for column in shape.columns { uses[Int(column)] += shape.uses }
        }
        var kept = [Int](repeating: -1, count: all.count)
        for (index, shape) in all.enumerated() {
            let shared = shape.columns.count { uses[Int($0)] >= Self.columnUsesMin }
            guard shape.uses > 1 || shared * 4 >= shape.columns.count * 3 else { continue }
            kept[index] = out.shapes.count
            out.shapes.append(shape)
        }
        if out.shapes.count < all.count {
            paths = ColumnPaths()
            for index in out.shapes.indices { paths.assign(&out.shapes[index]) }
        }
        out.paths = paths.columns
        return kept
    }

    private func place(
        _ kept: [Int],
        _ payloads: some Sequence<Piece>,
        _ rows: inout [Piece],
        _ out: inout SortedColumns
    ) {
        var ends = [Int](repeating: 0, count: out.paths.count)
        // The columns of all shapes, one after another: a shape of its own would be counted
        // references for each record.
        var columnOf: [Int] = []
        var starts = [0]
        for shape in out.shapes {
            for column in shape.columns { ends[Int(column)] += shape.uses }
            columnOf += shape.columns.map { Int($0) }
            starts.append(columnOf.count)
        }
        var total = 0
        for column in ends.indices {
            out.ranges.append(total..<total + ends[column])
            (ends[column], total) = (total, total + ends[column])
        }
        out.shapeOf.reserveCapacity(shapeOf.count)
        var value = 0
        var places = ends
        out.values = [Piece](unsafeUninitializedCapacity: total) { room, made in
            for (old, payload) in zip(shapeOf, payloads) {
                let new = old < 0 ? -1 : kept[Int(old)]
                if new < 0 {
                    rows.append(payload)
                    out.shapeOf.append(Int64(out.shapes.count))
                    if old >= 0 { value += shapes[Int(old)].kinds.count }
                    continue
                }
                out.shapeOf.append(Int64(new))
                for index in starts[new]..<starts[new + 1] {
                    let column = columnOf[index]
                    room.initializeElement(at: places[column], to: values.base[value])
                    places[column] += 1
                    value += 1
                }
            }
            made = total
        }
    }
}
