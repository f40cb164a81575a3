/// Cuts payloads into shapes and values, and numbers the shapes.
///
/// A shape is the text of a payload with its values taken out. It is found by looking at bytes
/// alone, so that any text survives: what is no JSON has an odd shape, or none.
///
/// Invariants:
/// 1. The literals of a record's shape and its values, put together in turn, are its payload.
/// 2. A text that has bytes below 0x20 other than white space, or a string without an end, is
///    refused: such a record is kept as a plain row.
/// 3. A value never contains `Lanes.end` or a marker.
struct ShapeTable: ~Copyable {
    private(set) var shapes: [Shape] = []
    /// Shape of each record; -1 for a plain row.
    private(set) var shapeOf: [Int32] = []
    /// The values of all records, one record after another.
    private(set) var values = GrowingBuffer<Piece>()
    private var slots = [UInt32](repeating: 0, count: 1024)
    private var literals: [Piece] = []
    private var kinds: [UInt8] = []
    /// The shape of the record before, if it had one: the next is likely to have it too.
    private var last: (shape: Int, literals: [Piece], kinds: [UInt8])?

    mutating func reset() {
        shapes.removeAll(keepingCapacity: true)
        shapeOf.removeAll(keepingCapacity: true)
        values.reset()
        last = nil
        slots.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
    }

    /// Takes in the next record.
    mutating func append(_ payload: Piece) {
        let mark = values.count
        if let last, matches(payload, last.literals, last.kinds) {
            shapeOf.append(Int32(truncatingIfNeeded: last.shape))
            shapes[last.shape].uses += 1
            return
        }
        values.truncate(to: mark)
        literals.removeAll(keepingCapacity: true)
        kinds.removeAll(keepingCapacity: true)
        guard split(payload) else {
            values.truncate(to: mark)
            shapeOf.append(-1)
            last = nil
            return
        }
        let shape = find()
        last = (shape, shapes[shape].literals, shapes[shape].kinds)
        shapes[shape].uses += 1
        shapeOf.append(Int32(truncatingIfNeeded: shape))
    }

    /// Tries the shape of the record before: literals are compared, only values are scanned.
    private mutating func matches(
        _ payload: Piece,
        _ literals: [Piece],
        _ kinds: [UInt8]
    ) -> Bool {
        let end = payload.start + payload.count
        var at = payload.start
        values.reserve(kinds.count)
        for index in kinds.indices {
            let literal = literals[index]
            guard at + literal.count <= end,
                Piece(start: at, count: literal.count).isEqual(literal)
            else { return false }
            at += literal.count
            let stop =
                kinds[index] == Shape.string
                ? ValueScan.stringEnd(at, end) : ValueScan.bareEnd(at, end)
            guard let stop else { return false }
            values.append(Piece(start: at, count: stop - at))
            at = stop
        }
        guard let tail = literals.last else { return false }
        return Piece(start: at, count: end - at).isEqual(tail)
    }

    /// Finds literals and values of a payload; false if it has no shape.
    private mutating func split(_ payload: Piece) -> Bool {
        let end = payload.start + payload.count
        var at = payload.start
        var literal = at
        while at < end {
            let byte = at.pointee
            switch byte {
            case UInt8(ascii: "\""):
                guard let stop = ValueScan.stringEnd(at + 1, end), stop < end else { return false }
                if ValueScan.isKey(stop + 1, end) {
                    at = stop + 1
                    continue
                }
                literals.append(Piece(start: literal, count: at + 1 - literal))
                kinds.append(Shape.string)
                values.append(Piece(start: at + 1, count: stop - at - 1))
                literal = stop
                at = stop + 1
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"),
                UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0a, 0x0d:
                at += 1
            default:
                guard let stop = ValueScan.bareEnd(at, end), stop > at else { return false }
                literals.append(Piece(start: literal, count: at - literal))
                kinds.append(Shape.bare)
                values.append(Piece(start: at, count: stop - at))
                literal = stop
                at = stop
            }
        }
        literals.append(Piece(start: literal, count: end - literal))
        return true
    }

    /// The number of the shape that `literals` and `kinds` make.
    private mutating func find() -> Int {
        var hash: UInt64 = 0
        for literal in literals { hash = Piece.mix(hash, literal.hash) }
        let mask = slots.count - 1
        var at = Int(truncatingIfNeeded: hash) & mask
        while slots[at] != 0 {
            let shape = shapes[Int(slots[at]) - 1]
            if shape.hash == hash, shape.kinds == kinds, isSame(shape.literals) {
                return Int(slots[at]) - 1
            }
            at = (at + 1) & mask
        }
        shapes.append(Shape(literals: literals, kinds: kinds, hash: hash))
        slots[at] = UInt32(truncatingIfNeeded: shapes.count)
        if shapes.count * 2 > slots.count { grow() }
        return shapes.count - 1
    }

    private func isSame(_ other: [Piece]) -> Bool {
        guard other.count == literals.count else { return false }
        for index in literals.indices where !other[index].isEqual(literals[index]) { return false }
        return true
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for (index, shape) in shapes.enumerated() {
            var at = Int(truncatingIfNeeded: shape.hash) & mask
            while slots[at] != 0 { at = (at + 1) & mask }
            slots[at] = UInt32(truncatingIfNeeded: index + 1)
        }
    }
}
