/// A column of templates and numbers as the directory describes it; `DigitPattern` made it.
struct PatternNode {
    let count: Int
    let templateCount: Int
    /// The templates, each ended by `Lanes.end`.
    let templates: UnsafeRawBufferPointer
    let ids: IntegerNode
    private let uses: IntegerNode
    private let numbers: LaneReader

    /// One column of numbers.
    private struct Numbers {
        /// 0: no leading zeros; 1 to 18: digits of each; 0xff: `widths` says.
        var form: UInt8
        var values: UnsafePointer<Int64>
        var widths: UnsafePointer<Int64>?
    }

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
        let programs = try arena.allocate(Program.self, templateCount)
        for (index, piece) in pieces.enumerated() {
            let program = try Program(piece, table.columnsOf[index], arena)
            (programs + index).initialize(to: program)
        }
        try expand(arena, programs, ids, columns, into: out)
    }

    private func checkedUses(_ arena: Arena) throws(DamagedBatch) -> [Int64] {
        let values = try uses.decodeIDs(arena, limit: count + 1)
        return Array(UnsafeBufferPointer(start: values, count: templateCount))
    }

    private func readNumbers(
        _ arena: Arena,
        _ table: PatternTable
    ) throws(DamagedBatch) -> [Numbers] {
        var reader = numbers
        var columns: [Numbers] = []
        columns.reserveCapacity(table.columns)
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
            columns.append(Numbers(form: form, values: values, widths: widths))
        }
        guard reader.isAtEnd else { throw DamagedBatch(reason: "numbers left over") }
        return columns
    }

    /// A template cut at its numbers: the literal and the column of each, and what follows.
    private struct Program {
        var literals: UnsafeMutablePointer<Piece>
        var columns: UnsafeMutablePointer<Int>
        var runs: Int
        var tail: Piece
        /// Bytes of all literals.
        var length: Int

        init(_ template: Piece, _ columnsOf: [Int], _ arena: Arena) throws(DamagedBatch) {
            runs = columnsOf.count
            literals = try arena.allocate(Piece.self, runs)
            columns = try arena.allocate(Int.self, runs)
            length = template.count - runs
            var (start, run) = (0, 0)
            for index in 0..<template.count where template.start[index] == DigitPattern.marker {
                let literal = Piece(start: template.start + start, count: index - start)
                (literals + run).initialize(to: literal)
                (columns + run).initialize(to: columnsOf[run])
                start = index + 1
                run += 1
            }
            tail = Piece(start: template.start + start, count: template.count - start)
        }
    }

    private func expand(
        _ arena: Arena,
        _ programs: UnsafePointer<Program>,
        _ ids: UnsafePointer<Int64>,
        _ columns: [Numbers],
        into out: UnsafeMutablePointer<Piece>
    ) throws(DamagedBatch) {
        var total = 0
        for index in 0..<count {
            let program = programs[Int(ids[index])]
            total += program.length + program.runs * NumberPrinter.bytesMax
            guard total <= ColumnLimits.rawMax * NumberPrinter.bytesMax else { throw .cutOff }
        }
        var at = try arena.allocate(UInt8.self, total)
        var cursors = [Int](repeating: 0, count: columns.count)
        cursors.withUnsafeMutableBufferPointer { cursors in
            columns.withUnsafeBufferPointer { columns in
                for index in 0..<count {
                    let program = programs[Int(ids[index])]
                    let start = at
                    for run in 0..<program.runs {
                        let literal = program.literals[run]
                        at.copy(literal)
                        at += literal.count
                        let column = program.columns[run]
                        let place = cursors[column]
                        cursors[column] = place + 1
                        at += Self.write(columns[column], place, to: at)
                    }
                    at.copy(program.tail)
                    at += program.tail.count
                    (out + index).initialize(to: Piece(start: start, count: at - start))
                }
            }
        }
    }

    /// Writes a number with the width that belongs to it; at most 20 bytes.
    @inline(__always)
    private static func write(
        _ numbers: Numbers,
        _ place: Int,
        to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let value = numbers.values[place]
        if numbers.form == 0 { return NumberPrinter.write(value, to: out) }
        var width = Int(numbers.form)
        if let widths = numbers.widths { width = Int(widths[place]) }
        var rest = value.magnitude
        NumberPrinter.writeDigits(&rest, width, to: out)
        return width
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
