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
        builder.uses.withUnsafeBufferPointer { encode($0, 1...1, &lanes.meta, &lanes.ids) }
        encode(builder.ids.elements, 1...1, &lanes.meta, &lanes.ids)
        let table = PatternTable(builder.templates.entries, uses: builder.uses)
        var starts: [Int] = []
        var total = 0
        for count in table.counts {
            starts.append(total)
            total += count
        }
        var numbers = GrowingBuffer<Int64>(capacity: total)
        var widths = GrowingBuffer<Int64>(capacity: total)
        sort(builder, table, starts, &numbers, &widths)
        // The numbers' description is apart, with its lengths before it, so that a reader who
        // wants none of them can step over them.
        let outer = lanes.meta
        let before = (lanes.numbers.count, lanes.ids.count)
        lanes.meta = ByteWriter()
        for (start, count) in zip(starts, table.counts) {
            encode(
                UnsafeBufferPointer(start: numbers.base + start, count: count),
                UnsafeBufferPointer(start: widths.base + start, count: count),
                &lanes
            )
        }
        let inner = lanes.meta
        lanes.meta = outer
        lanes.meta.varint(UInt64(inner.count))
        lanes.meta.varint(UInt64(lanes.numbers.count - before.0))
        lanes.meta.varint(UInt64(lanes.ids.count - before.1))
        lanes.meta.raw(inner.bytes)
        return true
    }

    /// Brings the numbers into their columns.
    private static func sort(
        _ builder: borrowing PatternBuilder,
        _ table: PatternTable,
        _ starts: [Int],
        _ numbers: inout GrowingBuffer<Int64>,
        _ widths: inout GrowingBuffer<Int64>
    ) {
        var places = starts
        var run = 0
        for id in builder.ids.elements {
            for index in table.starts[Int(id)]..<table.starts[Int(id) + 1] {
                let column = table.columnOf[index]
                let place = places[column]
                places[column] = place + 1
                (numbers.base + place).initialize(to: builder.numbers.base[run])
                (widths.base + place).initialize(to: Int64(builder.widths.base[run]))
                run += 1
            }
        }
    }

    /// Numbers that need no widths are 0, one width for all is that, else 0xff and a column.
    private static func encode(
        _ numbers: UnsafeBufferPointer<Int64>,
        _ widths: UnsafeBufferPointer<Int64>,
        _ lanes: inout Lanes
    ) {
        guard let first = widths.first else { return }
        var isCanonical = true
        var isFixed = true
        for index in numbers.indices {
            if Int(widths[index]) != NumberPrinter.digits(numbers[index].magnitude) {
                isCanonical = false
            }
            if widths[index] != first { isFixed = false }
        }
        lanes.meta.u8(isCanonical ? 0 : isFixed ? UInt8(truncatingIfNeeded: first) : 0xff)
        encode(numbers, 1...3, &lanes.meta, &lanes.numbers)
        if !isCanonical, !isFixed { encode(widths, 1...1, &lanes.meta, &lanes.ids) }
    }

    private static func encode(
        _ values: UnsafeBufferPointer<Int64>,
        _ orders: ClosedRange<UInt8>,
        _ meta: inout ByteWriter,
        _ lane: inout Lane
    ) {
        IntegerColumn.encode(values, withBounds: false, orders: orders, meta: &meta, lane: &lane)
    }
}

/// Which column each number of each template goes to; encoder and decoder derive it alike.
struct PatternTable {
    /// Numbers that fewer texts than this have go to the column of the rest.
    static let usesMin = 4

    /// The column of each number, one template after another.
    private(set) var columnOf: [Int] = []
    /// Where each template's numbers begin in it, and where the last one's end.
    private(set) var starts = [0]
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
                columnOf.append(context.column)
            }
            starts.append(columnOf.count)
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
}

/// Cuts texts into templates and numbers.
struct PatternBuilder: ~Copyable {
    private(set) var templates = TextDictionary(capacity: 64)
    private(set) var ids = GrowingBuffer<Int64>()
    private(set) var uses: [Int64] = []
    private(set) var numbers = GrowingBuffer<Int64>()
    private(set) var widths = GrowingBuffer<UInt8>()
    /// Template texts; all the room is there from the start, so that it never moves.
    private var memory: GrowingBuffer<UInt8>

    init(texts: UnsafeBufferPointer<Piece>) {
        var total = 0
        for piece in texts { total += piece.count }
        memory = GrowingBuffer(capacity: total + Self.wordBytes)
        ids.reserve(texts.count)
    }

    /// False if there are no digits, or too many templates.
    mutating func build(_ texts: UnsafeBufferPointer<Piece>) -> Bool {
        let most = texts.count / 2 + 1
        for text in texts {
            let start = memory.count
            cut(text)
            let piece = Piece(start: memory.base + start, count: memory.count - start)
            let known = templates.count
            let id = templates.id(of: piece)
            if id < known {
                memory.truncate(to: start)
                uses[id] += 1
            } else {
                uses.append(1)
                if templates.count > most { return false }
            }
            ids.append(Int64(id))
        }
        return numbers.count > 0
    }

    private static let wordBytes = 8

    /// How many bytes of a word, from its lowest on, come before the first digit; 8 without one.
    @inline(__always)
    private static func bytesBeforeDigit(_ word: UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & (ones &* 0x7f)
        // The high bits of bytes that are at least '0', and of those above '9'.
        let from = (low | ones &* 0x80) &- ones &* 0x30
        let above = low &+ ones &* (0x7f - 0x39)
        return (from & ~above & ~word & (ones &* 0x80)).trailingZeroBitCount / 8
    }

    private mutating func cut(_ text: Piece) {
        let end = text.start + text.count
        var at = text.start
        memory.reserve(text.count + Self.wordBytes)
        var out = memory.base + memory.count
        while at < end {
            // To the next digit by whole words; of the last one some bytes are written again.
            while end - at >= Self.wordBytes {
                let word = UnsafeRawPointer(at).loadUnaligned(as: UInt64.self)
                UnsafeMutableRawPointer(out).storeBytes(of: word, as: UInt64.self)
                let before = Self.bytesBeforeDigit(word)
                at += before
                out += before
                if before < Self.wordBytes { break }
            }
            guard at < end else { break }
            let byte = at.pointee
            guard byte &- 0x30 < 10 else {
                out.initialize(to: byte)
                out += 1
                at += 1
                continue
            }
            let start = at
            let stop = min(end, at + NumberText.digitsMax)
            var value = Int64(byte &- 0x30)
            at += 1
            while at < stop {
                let digit = at.pointee &- 0x30
                if digit > 9 { break }
                value = value &* 10 &+ Int64(digit)
                at += 1
            }
            out.initialize(to: DigitPattern.marker)
            out += 1
            numbers.append(value)
            widths.append(UInt8(truncatingIfNeeded: at - start))
        }
        memory.extend(to: out)
    }
}
