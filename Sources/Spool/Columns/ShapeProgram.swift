/// How to write the records of one shape: literals and columns in turn, constants already among
/// the literals.
struct ShapeProgram {
    struct Step {
        var literal: Piece
        /// The column after the literal; -1 at the end.
        var column: Int32
    }

    private(set) var steps: [Step] = []

    /// Joins a shape's literals with the constants among its columns.
    init(
        _ shape: Shape,
        _ image: ColumnImage,
        _ arena: Arena,
        raw: Int
    ) throws(DamagedBatch) {
        var total = 0
        for literal in shape.literals { total += literal.count }
        for column in shape.columns {
            if case .constant(let piece) = image.nodes[Int(column)] { total += piece.count }
            guard total <= raw else { throw DamagedBatch(reason: "longer than declared") }
        }
        guard total <= raw else { throw DamagedBatch(reason: "longer than declared") }
        var at = try arena.allocate(UInt8.self, total)
        var start = at
        for (index, literal) in shape.literals.enumerated() {
            at.copy(literal)
            at += literal.count
            guard index < shape.columns.count else { break }
            let column = shape.columns[index]
            if case .constant(let piece) = image.nodes[Int(column)] {
                at.copy(piece)
                at += piece.count
            } else {
                let literal = Piece(start: start, count: at - start)
                steps.append(Step(literal: literal, column: column))
                start = at
            }
        }
        steps.append(Step(literal: Piece(start: start, count: at - start), column: -1))
    }
}
