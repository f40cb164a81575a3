internal import LinuxIO

/// A column of texts as the directory describes it; `TextColumn` says how it was made.
///
/// Reading one only takes its lengths; values are made when they are asked for.
indirect enum TextNode {
    case constant(Piece)
    /// Texts that end with `Lanes.end` each.
    case plain(UnsafeRawBufferPointer)
    case dictionary(entries: TextNode, count: Int, ids: IntegerNode)
    case pattern(PatternNode)
    case integers(IntegerNode)
    case decimals(DecimalNode)

    /// Reads the description of a column of `count` texts, at least one.
    init(
        _ reader: inout LaneReader,
        count: Int,
        inDictionary: Bool = false
    ) throws(DamagedBatch) {
        switch try reader.byte() {
        case TextColumn.Form.constant:
            let length = try reader.count(limit: ColumnLimits.rawMax)
            guard let piece = Piece(try reader.raw(length)) else { throw .cutOff }
            self = .constant(piece)
        case TextColumn.Form.plain:
            self = .plain(try Self.texts(&reader))
        case TextColumn.Form.dictionary where !inDictionary:
            let entries = try reader.count(limit: count)
            guard entries > 0 else { throw DamagedBatch(reason: "an empty dictionary") }
            let ids = try IntegerNode(&reader, count: count, lane: .ids)
            let node = try TextNode(&reader, count: entries, inDictionary: true)
            self = .dictionary(entries: node, count: entries, ids: ids)
        case TextColumn.Form.pattern:
            self = .pattern(try PatternNode(&reader, count: count))
        case TextColumn.Form.integers where !inDictionary:
            let node = try IntegerNode(&reader, count: count, lane: .numbers, withBounds: true)
            self = .integers(node)
        case TextColumn.Form.decimals where !inDictionary:
            self = .decimals(try DecimalNode(&reader, count: count))
        default:
            throw DamagedBatch(reason: "a form of column is not known")
        }
    }

    /// The length and the bytes of texts one after another.
    static func texts(
        _ reader: inout LaneReader
    ) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        let length = try reader.count(limit: ColumnLimits.rawMax)
        return try reader.takeTexts(length)
    }

    /// All texts of the column, in memory of the arena or of the batch.
    func decode(_ arena: Arena, count: Int) throws(DamagedBatch) -> UnsafePointer<Piece> {
        let out = try arena.allocate(Piece.self, max(1, count))
        switch self {
        case .constant(let piece): out.initialize(repeating: piece, count: count)
        case .plain(let bytes): try Self.split(bytes, count, out)
        case .dictionary(let entries, let limit, let ids):
            let texts = try entries.decode(arena, count: limit)
            let numbers = try ids.decodeIDs(arena, limit: limit)
            for index in 0..<count { (out + index).initialize(to: texts[Int(numbers[index])]) }
        case .pattern(let node): try node.decode(arena, into: out)
        case .integers(let node): try NumberPrinter.writeAll(node, arena, into: out)
        case .decimals(let node): try node.decode(arena, into: out)
        }
        return UnsafePointer(out)
    }

    /// Cuts texts at their ends; there must be exactly `count` of them.
    static func split(
        _ bytes: UnsafeRawBufferPointer,
        _ count: Int,
        _ out: UnsafeMutablePointer<Piece>
    ) throws(DamagedBatch) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else {
            if count == 0 { return }
            throw .cutOff
        }
        var at = base
        let end = base + bytes.count
        for index in 0..<count {
            guard let found = MemorySearch.first(Lanes.end, in: at, count: end - at) else {
                throw .cutOff
            }
            let length = found - UnsafeRawPointer(at)
            (out + index).initialize(to: Piece(start: at, count: length))
            at += length + 1
        }
        guard at == end else { throw DamagedBatch(reason: "texts left over") }
    }
}

extension Piece {
    /// The bytes of a buffer that has an address.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
        self.init(start: base, count: bytes.count)
    }
}

/// Bounds of cold batches, which readers check before anything is allocated.
enum ColumnLimits {
    /// Raw bytes of a batch in columns; larger ones are rows.
    static let rawMax = 4 << 20
    /// What unpacking a batch may take: the largest batch of rows and its blob, or the numbers (8
    /// bytes each) and pieces (16) of the largest in columns.
    static let memoryMax = 192 << 20
    /// Bytes of one record's numbers in frame 1 at the most: eight integers and an own group.
    static let envelopeBytesMax = 96
}
