internal import Basics

/// Texts cut into templates and numbers: `10.0.1.6` is the template `#.#.#.#` and four numbers.
///
/// A template is the text with each run of digits (cut at 18) replaced by `marker`. Numbers with
/// the same words before them share a column, whatever the template.
enum DigitPattern {
    static let marker: UInt8 = 0x01

    /// Appends the column; false if the texts have too little in common.
    static func encode(_ pieces: UnsafeBufferPointer<Piece>, _ lanes: inout Lanes) -> Bool {
        var builder = PatternBuilder(texts: pieces)
        guard builder.build(pieces) else { return false }
        lanes.meta.u8(TextColumn.Form.pattern)
        lanes.meta.varint(UInt64(builder.templates.count))
        builder.templates.entries.withUnsafeBufferPointer { TextColumn.encodePlain($0, &lanes) }
        encode(builder.uses, 1...1, &lanes.meta, &lanes.ids)
        encode(builder.ids, 1...1, &lanes.meta, &lanes.ids)
        let table = PatternTable(builder.templates.entries, uses: builder.uses)
        var columns = [[Int64]](repeating: [], count: table.columns)
        var widths = columns
        for column in 0..<table.columns { columns[column].reserveCapacity(table.counts[column]) }
        for column in 0..<table.columns { widths[column].reserveCapacity(table.counts[column]) }
        var run = 0
        for id in builder.ids {
            for column in table.columnsOf[Int(id)] {
                columns[column].append(builder.numbers[run])
                widths[column].append(builder.widths[run])
                run += 1
            }
        }
        // The numbers' description is apart, with its lengths before it, so that a reader who
        // wants none of them can step over them.
        let outer = lanes.meta
        let (numbers, ids) = (lanes.numbers.count, lanes.ids.count)
        lanes.meta = ByteWriter()
        for column in 0..<table.columns { encode(columns[column], widths[column], &lanes) }
        let inner = lanes.meta
        lanes.meta = outer
        lanes.meta.varint(UInt64(inner.count))
        lanes.meta.varint(UInt64(lanes.numbers.count - numbers))
        lanes.meta.varint(UInt64(lanes.ids.count - ids))
        lanes.meta.raw(inner.bytes)
        return true
    }

    /// Numbers that need no widths are 0, one width for all is that, else 0xff and a column.
    private static func encode(_ numbers: [Int64], _ widths: [Int64], _ lanes: inout Lanes) {
        guard let first = widths.first else { return }
        var isCanonical = true
        var isFixed = true
        for (number, width) in zip(numbers, widths) {
            if Int(width) != PatternTable.digits(number) { isCanonical = false }
            if width != first { isFixed = false }
        }
        lanes.meta.u8(isCanonical ? 0 : isFixed ? UInt8(truncatingIfNeeded: first) : 0xff)
        encode(numbers, 1...3, &lanes.meta, &lanes.numbers)
        if !isCanonical, !isFixed { encode(widths, 1...1, &lanes.meta, &lanes.ids) }
    }

    private static func encode(
        _ values: [Int64],
        _ orders: ClosedRange<UInt8>,
        _ meta: inout ByteWriter,
        _ lane: inout Lane
    ) {
        values.withUnsafeBufferPointer {
            IntegerColumn.encode($0, withBounds: false, orders: orders, meta: &meta, lane: &lane)
        }
    }
}

/// Which column each number of each template goes to; encoder and decoder derive it alike.
struct PatternTable {
    /// Numbers that fewer texts than this have go to the column of the rest.
    static let usesMin = 4

    private(set) var columnsOf: [[Int]] = []
    private(set) var counts: [Int] = []
    var columns: Int { counts.count }

    init(_ templates: [Piece], uses: [Int64]) {
        var contexts: [UInt64: (column: Int, uses: Int)] = [:]
        var keys: [[UInt64]] = []
        keys.reserveCapacity(templates.count)
        for (index, template) in templates.enumerated() {
            let found = Self.contexts(template)
            for key in found { contexts[key, default: (-1, 0)].uses += Int(uses[index]) }
            keys.append(found)
        }
        var rest = -1
        for (index, found) in keys.enumerated() {
            var row: [Int] = []
            row.reserveCapacity(found.count)
            for key in found {
                guard var context = contexts[key] else { continue }
                if context.column < 0 {
                    if context.uses < Self.usesMin {
                        if rest < 0 {
                            rest = counts.count
                            counts.append(0)
                        }
                        context.column = rest
                    } else {
                        context.column = counts.count
                        counts.append(0)
                    }
                    contexts[key] = context
                }
                counts[context.column] += Int(uses[index])
                row.append(context.column)
            }
            columnsOf.append(row)
        }
    }

    /// What stands before each number: up to six bytes, and where that is two bytes or less also
    /// what stands before the number before.
    private static func contexts(_ template: Piece) -> [UInt64] {
        var found: [UInt64] = []
        var before: UInt64 = 0
        var word: UInt64 = 0
        var length = 0
        for index in 0..<template.count {
            let byte = template.start[index]
            guard byte == DigitPattern.marker else {
                word = (word << 8 | UInt64(byte)) & 0xffff_ffff_ffff
                length += 1
                continue
            }
            before = length <= 2 ? Piece.mix(before, word) : Piece.mix(1, word)
            found.append(before)
            word = 0
            length = 0
        }
        return found
    }

    /// Decimal digits of a number that is not negative.
    @inline(__always)
    static func digits(_ number: Int64) -> Int {
        if number < 10 { return 1 }
        var limit: Int64 = 100
        var count = 2
        while count < NumberText.digitsMax, number >= limit {
            limit *= 10
            count += 1
        }
        return count
    }
}

/// Cuts texts into templates and numbers.
struct PatternBuilder {
    private(set) var templates: TextDictionary
    private(set) var ids: [Int64] = []
    private(set) var uses: [Int64] = []
    private(set) var numbers: [Int64] = []
    private(set) var widths: [Int64] = []
    /// Template texts; its room never moves.
    private var memory: [UInt8]

    init(texts: UnsafeBufferPointer<Piece>) {
        templates = TextDictionary(capacity: 64)
        var total = 0
        for piece in texts { total += piece.count }
        memory = []
        memory.reserveCapacity(total)
        ids.reserveCapacity(texts.count)
    }

    /// False if there are no digits, or too many templates.
    mutating func build(_ texts: UnsafeBufferPointer<Piece>) -> Bool {
        let most = texts.count / 2 + 1
        for text in texts {
            let start = memory.count
            cut(text)
            let piece = memory.withUnsafeBufferPointer { memory -> Piece? in
                memory.baseAddress.map { Piece(start: $0 + start, count: memory.count - start) }
            }
            guard let piece else { return false }
            let known = templates.count
            let id = templates.id(of: piece)
            if id < known {
                memory.removeLast(memory.count - start)
                uses[id] += 1
            } else {
                uses.append(1)
                if templates.count > most { return false }
            }
            ids.append(Int64(id))
        }
        return !numbers.isEmpty
    }

    private mutating func cut(_ text: Piece) {
        var at = 0
        while at < text.count {
            let byte = text.start[at]
            guard byte &- 0x30 < 10 else {
                memory.append(byte)
                at += 1
                continue
            }
            let start = at
            var value: Int64 = 0
            while at < text.count, at - start < NumberText.digitsMax {
                let digit = text.start[at] &- 0x30
                if digit > 9 { break }
                value = value &* 10 &+ Int64(digit)
                at += 1
            }
            memory.append(DigitPattern.marker)
            numbers.append(value)
            widths.append(Int64(at - start))
        }
    }
}
