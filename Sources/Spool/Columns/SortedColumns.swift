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
    /// Gives each value to its column; records whose shape has fewer than `usesMin` go to `rows`.
    func sortIntoColumns(
        usesMin: Int,
        payloads: some Sequence<Piece>,
        rows: inout [Piece]
    ) -> SortedColumns {
        var out = SortedColumns()
        var paths = ColumnPaths()
        var kept = [Int](repeating: -1, count: shapes.count)
        for (index, shape) in shapes.enumerated() where shape.uses >= usesMin {
            kept[index] = out.shapes.count
            var shape = shape
            paths.assign(&shape)
            out.shapes.append(shape)
        }
        out.paths = paths.columns
        var ends = [Int](repeating: 0, count: paths.columns.count)
        for shape in out.shapes {
            for column in shape.columns { ends[Int(column)] += shape.uses }
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
                for column in out.shapes[new].columns {
                    room.initializeElement(at: places[Int(column)], to: values[value])
                    places[Int(column)] += 1
                    value += 1
                }
            }
            made = total
        }
        return out
    }
}
