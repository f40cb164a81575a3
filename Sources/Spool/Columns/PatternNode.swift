/// A column of templates and numbers as the directory describes it; `DigitPattern` made it.
struct PatternNode {
    let count: Int
    let templateCount: Int
    /// The templates, each ended by `Lanes.end`.
    let templates: UnsafeRawBufferPointer
    let ids: IntegerNode
    private let uses: IntegerNode
    private let numbers: LaneReader

    init(_ reader: inout LaneReader, count: Int) throws(DamagedBatch) {
        self.count = count
        templateCount = try reader.count(limit: count)
        guard templateCount > 0 else { throw DamagedBatch(reason: "no templates") }
        templates = try TextNode.texts(&reader)
        uses = try IntegerNode(&reader, count: templateCount, lane: .ids)
        ids = try IntegerNode(&reader, count: count, lane: .ids)
        let limit = ColumnLimits.rawMax * 16
        let lengths = (
            try reader.count(limit: limit), try reader.count(limit: limit),
            try reader.count(limit: limit)
        )
        numbers = LaneReader(
            meta: try reader.raw(lengths.0),
            numbers: try reader.take(lengths.1, from: .numbers),
            ids: try reader.take(lengths.2, from: .ids),
            texts: UnsafeRawBufferPointer(start: nil, count: 0)
        )
    }

    /// Writes the texts into memory of the arena.
    func decode(_ arena: Arena, into out: UnsafeMutablePointer<Piece>) throws(DamagedBatch) {
        let values = try open(arena)
        let total = try values.bytesMax(count)
        var at = try arena.allocate(UInt8.self, total)
        for index in 0..<count {
            let start = at
            let program = values.program(index)
            for run in 0..<program.runs {
                let literal = program.literals[run]
                at.copy(literal)
                at += literal.count
                at += values.writeNext(program.columns[run], to: at)
            }
            at.copy(program.tail)
            at += program.tail.count
            (out + index).initialize(to: Piece(start: start, count: at - start))
        }
    }

    /// The values, to be written one after another.
    func open(_ arena: Arena) throws(DamagedBatch) -> PatternValues {
        let room = try arena.allocate(Piece.self, templateCount)
        try TextNode.split(templates, templateCount, room)
        let pieces = UnsafeBufferPointer(start: room, count: templateCount)
        let uses = try checkedUses(arena)
        let ids = try ids.decodeIDs(arena, limit: templateCount)
        var seen = [Int64](repeating: 0, count: templateCount)
        for index in 0..<count { seen[Int(ids[index])] += 1 }
        guard seen == uses else { throw DamagedBatch(reason: "uses of templates differ") }
        let table = PatternTable(Array(pieces), uses: uses)
        let columns = try readNumbers(arena, table)
        let programs = try arena.allocate(PatternValues.Program.self, templateCount)
        for (index, piece) in pieces.enumerated() {
            let columns = table.columnOf[table.starts[index]..<table.starts[index + 1]]
            let program = try PatternValues.Program(piece, columns, arena)
            (programs + index).initialize(to: program)
        }
        return PatternValues(programs: programs, ids: ids, columns: columns, count: table.columns)
    }

    private func checkedUses(_ arena: Arena) throws(DamagedBatch) -> [Int64] {
        let values = try uses.decodeIDs(arena, limit: count + 1)
        return Array(UnsafeBufferPointer(start: values, count: templateCount))
    }

    private func readNumbers(
        _ arena: Arena,
        _ table: PatternTable
    ) throws(DamagedBatch) -> UnsafeMutablePointer<PatternValues.Numbers> {
        var reader = numbers
        let columns = try arena.allocate(PatternValues.Numbers.self, table.columns)
        for column in 0..<table.columns {
            let count = table.counts[column]
            guard count > 0 else { throw DamagedBatch(reason: "a template without a use") }
            let form = try reader.byte()
            guard form <= NumberText.digitsMax || form == 0xff else {
                throw DamagedBatch(reason: "a width is not known")
            }
            let values = try IntegerNode(&reader, count: count, lane: .numbers).decode(arena)
            var widths: UnsafePointer<Int64>?
            if form == 0xff {
                let node = try IntegerNode(&reader, count: count, lane: .ids)
                widths = try node.decodeIDs(arena, limit: NumberText.digitsMax + 1)
            }
            (columns + column).initialize(
                to: PatternValues.Numbers(form: form, next: 0, values: values, widths: widths)
            )
        }
        guard reader.isAtEnd else { throw DamagedBatch(reason: "numbers left over") }
        return columns
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Copies a piece, 16 bytes a step; writes and reads up to 15 bytes beyond its end.
    @inline(__always)
    func copy(_ piece: Piece) {
        let to = UnsafeMutableRawPointer(self)
        let from = UnsafeRawPointer(piece.start)
        var offset = 0
        while offset < piece.count {
            to.storeBytes(
                of: from.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self),
                toByteOffset: offset,
                as: SIMD16<UInt8>.self
            )
            offset += 16
        }
    }
}
