internal import Basics

/// What a text pattern can be looked for in columns with, without rebuilding.
///
/// Invariants:
/// 1. The fragment has no digit, quote, bracket, comma, colon or control character and more than
///    signs and points: no column of numbers holds it, no template cuts it, and no boundary between
///    a value and its surroundings lies in it.
/// 2. So a record that holds the pattern holds the fragment, within one literal, template, entry or
///    text; and where the fragment is the whole pattern, the other way round.
struct SearchPlan {
    /// The longest part of the pattern that can be looked for; nil if there is none.
    let fragment: TextPattern?
    /// True if what holds the fragment holds the pattern.
    let isExact: Bool

    init(_ pattern: TextPattern) {
        var best = 0..<0
        var start = 0
        for index in 0...pattern.bytes.count {
            guard index == pattern.bytes.count || Self.cuts(pattern.bytes[index]) else { continue }
            let part = Self.trim(pattern.bytes, start..<index)
            if part.count > best.count, Self.isText(pattern.bytes[part]) { best = part }
            start = index + 1
        }
        if best.isEmpty {
            fragment = nil
            isExact = false
        } else {
            fragment = TextPattern(String(decoding: pattern.bytes[best], as: UTF8.self))
            isExact = best.count == pattern.bytes.count && !pattern.isWord
        }
    }

    private static func cuts(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00..<0x20, 0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d, 0x30...0x39: true
        default: false
        }
    }

    /// White space at either end may be that between values.
    private static func trim(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, bytes[low] == 0x20 { low += 1 }
        while low < high, bytes[high - 1] == 0x20 { high -= 1 }
        return low..<high
    }

    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { ![0x2b, 0x2d, 0x2e, 0x45, 0x65].contains($0) }
            && UTF8Text.firstInvalid(of: bytes) == nil
    }
}

extension UTF8Text {
    static func firstInvalid(of bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { firstInvalid($0) }
    }
}

extension ColumnBatchDecoder {
    /// The records that hold a text, as their payloads would be searched: rising indexes.
    ///
    /// Columns are searched as they are; only records of which they cannot tell are rebuilt.
    package func search(_ pattern: TextPattern) throws(DamagedBatch) -> [Int32] {
        switch content {
        case .nothing: throw DamagedBatch(reason: "no batch is open")
        case .rows(let bytes):
            if !pattern.mayOccur(in: bytes) { return [] }
            return Self.indexes(
                pattern.search(bytes, ends: try envelopes().map(\.payload.upperBound))
            )
        case .columns(let lanes): return try search(pattern, lanes)
        }
    }

    private func search(
        _ pattern: TextPattern,
        _ lanes: LaneReader
    ) throws(DamagedBatch) -> [Int32] {
        let plan = SearchPlan(pattern)
        guard let fragment = plan.fragment else {
            let all = try payloads()
            return Self.indexes(all.bytes.withUnsafeBytes { pattern.search($0, ends: all.ends) })
        }
        // Whatever a search without digits can find is in the texts and the description.
        if !fragment.mayOccur(in: lanes.texts), !fragment.mayOccur(in: lanes.meta.base) {
            return []
        }
        guard let image = try image() else { return [] }
        var hits = ColumnHits(image, self, fragment)
        let candidates = try hits.records()
        if candidates.isEmpty || plan.isExact && !hits.isDoubtful { return candidates }
        let found = try payloads(of: candidates)
        let marks = found.bytes.withUnsafeBytes { pattern.search($0, ends: found.ends) }
        return zip(candidates, marks).compactMap { $1 ? $0 : nil }
    }

    static func indexes(_ hits: [Bool]) -> [Int32] {
        var found: [Int32] = []
        for (index, hit) in hits.enumerated() where hit {
            found.append(Int32(truncatingIfNeeded: index))
        }
        return found
    }
}

/// Which values of which columns hold a fragment, and so which records.
private struct ColumnHits {
    private let image: ColumnImage
    private let decoder: ColumnBatchDecoder
    private let fragment: TextPattern
    /// True if some were taken in that only their text can tell of.
    private(set) var isDoubtful = false

    /// Of a column: no value, every value, or those marked.
    private enum Hits {
        case none, all
        case some([Bool])
    }

    init(_ image: ColumnImage, _ decoder: ColumnBatchDecoder, _ fragment: TextPattern) {
        self.image = image
        self.decoder = decoder
        self.fragment = fragment
    }

    mutating func records() throws(DamagedBatch) -> [Int32] {
        let shapes = image.shapeTexts.map { holds($0) }
        var columns: [Hits] = []
        var anyColumn = false
        for (index, node) in image.nodes.enumerated() {
            let hits = try find(node, image.counts[index])
            if case .none = hits {} else { anyColumn = true }
            columns.append(hits)
        }
        let rows = image.rows.map { holds($0) }
        guard anyColumn || shapes.contains(true) || rows.contains(true) else { return [] }
        return try collect(shapes, columns, rows)
    }

    private func collect(
        _ shapes: [Bool],
        _ columns: [Hits],
        _ rows: [Bool]
    ) throws(DamagedBatch) -> [Int32] {
        let shapeOf = try decoder.shapes(image)
        var cursors = [Int](repeating: 0, count: columns.count)
        var row = 0
        var found: [Int32] = []
        for index in 0..<image.records {
            let shape = Int(shapeOf[index])
            var isHit = false
            if shape == shapes.count {
                isHit = rows[row]
                row += 1
            } else {
                isHit = shapes[shape]
                for column in image.shapes[shape].columns {
                    switch columns[Int(column)] {
                    case .none: break
                    case .all: isHit = true
                    case .some(let marks):
                        if marks[cursors[Int(column)]] { isHit = true }
                        cursors[Int(column)] += 1
                    }
                }
            }
            if isHit { found.append(Int32(truncatingIfNeeded: index)) }
        }
        return found
    }

    private func holds(_ piece: Piece) -> Bool {
        guard fragment.mayOccur(in: piece.bytes) else { return false }
        return fragment.search(piece.bytes, ends: [piece.count])[0]
    }

    private mutating func find(_ node: TextNode, _ count: Int) throws(DamagedBatch) -> Hits {
        switch node {
        case .constant(let piece): return holds(piece) ? .all : .none
        case .integers, .decimals: return .none
        case .plain(let bytes): return try find(bytes, count)
        case .dictionary(let entries, let limit, let ids):
            return try spread(try find(entries, limit), ids, limit)
        case .pattern(let node):
            return try spread(try find(templatesOf: node), node.ids, node.templateCount)
        }
    }

    /// Templates; those with a `\u`, whose digits are not in them, may hold anything.
    private mutating func find(templatesOf node: PatternNode) throws(DamagedBatch) -> Hits {
        var hits = try find(node.templates, node.templateCount)
        guard Self.escape.firstIndex(in: node.templates, from: 0) != nil else { return hits }
        let marks = Self.escape.search(
            node.templates,
            ends: try ends(node.templates, node.templateCount)
        )
        isDoubtful = true
        if case .some(let known) = hits {
            hits = .some(zip(known, marks).map { $0 || $1 })
        } else {
            hits = .some(marks)
        }
        return hits
    }

    private static let escape = TextPattern("\\u")

    private func find(_ bytes: UnsafeRawBufferPointer, _ count: Int) throws(DamagedBatch) -> Hits {
        guard fragment.mayOccur(in: bytes) else { return .none }
        return .some(fragment.search(bytes, ends: try ends(bytes, count)))
    }

    /// Where each of `count` texts ends, its mark included.
    private func ends(_ bytes: UnsafeRawBufferPointer, _ count: Int) throws(DamagedBatch) -> [Int] {
        let pieces = try decoder.arena.allocate(Piece.self, count)
        try TextNode.split(bytes, count, pieces)
        var ends: [Int] = []
        ends.reserveCapacity(count)
        var end = 0
        for index in 0..<count {
            end += pieces[index].count + 1
            ends.append(end)
        }
        return ends
    }

    /// From entries to the values that are they.
    private func spread(
        _ entries: Hits,
        _ ids: IntegerNode,
        _ limit: Int
    ) throws(DamagedBatch) -> Hits {
        guard case .some(let marks) = entries else { return entries }
        guard marks.contains(true) else { return .none }
        let numbers = try ids.decodeIDs(decoder.arena, limit: limit)
        return .some((0..<ids.count).map { marks[Int(numbers[$0])] })
    }
}
