/// The text of a payload with its values taken out.
struct Shape {
    /// Marks a value between quotes in a shape's text; the quotes belong to the literals.
    static let string: UInt8 = 0x01
    /// Marks a number or a word.
    static let bare: UInt8 = 0x02
    /// Ends a shape's text.
    static let end: UInt8 = 0x00

    /// The text around the values: one more than there are values.
    var literals: [Piece]
    /// `string` or `bare` for each value.
    var kinds: [UInt8]
    var hash: UInt64 = 0
    /// Records of this shape.
    var uses = 0
    /// Column of each value.
    var columns: [Int32] = []
}

/// Gives each value of a shape its column: values at the same path of any shape share one.
///
/// Encoder and decoder derive the same columns from the same shapes, so that paths are not stored.
///
/// Invariants:
/// 1. A column's path is a JSON Pointer (RFC 6901) over the keys as they are written; items from
///    `itemsMax` on share `*`, and a `*` in a key is written `~2`.
/// 2. Memory is bounded for any shape text: paths to `pathBytesMax`, columns to `columnsMax`; what
///    is beyond shares a column with others, which costs size and nothing else.
struct ColumnPaths {
    /// Items of an array that have columns of their own.
    static let itemsMax = 16
    static let pathBytesMax = 512
    static let columnsMax = 1 << 14

    /// A column's path and kind.
    struct Column: Equatable {
        var path: [UInt8]
        var kind: UInt8
    }

    /// Another one in each process: where a column stands in `slots` shows nowhere.
    private static let seed = UInt64.random(in: .min ... .max)

    private(set) var columns: [Column] = []
    /// Kind and path of each column as one text, its hash, and where the column stands by it; -1
    /// for nothing.
    private var keys: [[UInt8]] = []
    private var hashes: [UInt64] = []
    private var slots = [Int32](repeating: -1, count: 256)
    private var scratch: [UInt8] = []
    /// Open containers: bytes of `scratch` before it, and the number of the next item, or -1.
    private var open: [(length: Int, item: Int)] = []

    /// Fills in the columns of a shape.
    mutating func assign(_ shape: inout Shape) {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(0)
        open.removeAll(keepingCapacity: true)
        shape.columns.removeAll(keepingCapacity: true)
        shape.columns.reserveCapacity(shape.kinds.count)
        var before = Shape.bare
        for (literal, kind) in zip(shape.literals, shape.kinds) {
            // The quotes around string values belong to no key.
            let start = before == Shape.string ? 1 : 0
            let end = literal.count - (kind == Shape.string ? 1 : 0)
            if start < end { walk(UnsafeRawBufferPointer(rebasing: literal.bytes[start..<end])) }
            shape.columns.append(column(kind))
            before = kind
        }
    }

    private mutating func column(_ kind: UInt8) -> Int32 {
        scratch[0] = kind
        // What has no room for a column of its own shares one whose path is empty.
        return find(scratch, mayAdd: columns.count < Self.columnsMax) ?? find([kind], mayAdd: true)
            ?? 0
    }

    private mutating func find(_ key: [UInt8], mayAdd: Bool) -> Int32? {
        let hash = key.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { Piece(start: $0, count: bytes.count).hash(seed: Self.seed) }
                ?? 0
        }
        let mask = slots.count - 1
        var at = Int(truncatingIfNeeded: hash) & mask
        while slots[at] >= 0 {
            let known = Int(slots[at])
            if hashes[known] == hash, keys[known] == key { return slots[at] }
            at = (at + 1) & mask
        }
        guard mayAdd else { return nil }
        let number = Int32(truncatingIfNeeded: columns.count)
        slots[at] = number
        keys.append(key)
        hashes.append(hash)
        columns.append(Column(path: Array(key[1...]), kind: key[0]))
        if columns.count * 2 > slots.count { grow() }
        return number
    }

    private mutating func grow() {
        slots = [Int32](repeating: -1, count: slots.count * 2)
        let mask = slots.count - 1
        for (number, hash) in hashes.enumerated() {
            var at = Int(truncatingIfNeeded: hash) & mask
            while slots[at] >= 0 { at = (at + 1) & mask }
            slots[at] = Int32(truncatingIfNeeded: number)
        }
    }

    /// Follows brackets, keys and commas.
    private mutating func walk(_ bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isArray = bytes[at] == UInt8(ascii: "[")
                open.append((scratch.count, isArray ? 0 : -1))
                if isArray { item() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let last = open.popLast() { cut(last.length) }
            case UInt8(ascii: ","):
                if let last = open.last, last.item >= 0 { item() }
            case UInt8(ascii: "\""):
                // A quote that opens a key has its partner in the same literal.
                let start = at + 1
                at = start
                while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
                    at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
                }
                if at < bytes.count { key(UnsafeRawBufferPointer(rebasing: bytes[start..<at])) }
            default: break
            }
            at += 1
        }
    }

    private mutating func cut(_ length: Int) {
        if length < scratch.count { scratch.removeLast(scratch.count - length) }
    }

    private mutating func item() {
        guard let last = open.last else { return }
        cut(last.length)
        let text = last.item < Self.itemsMax ? Array(String(last.item).utf8) : [UInt8(ascii: "*")]
        extend(text.count) { $0.append(contentsOf: text) }
        open[open.count - 1].item += 1
    }

    private mutating func key(_ key: UnsafeRawBufferPointer) {
        cut(open.last?.length ?? 1)
        extend(key.count) { out in
            for byte in key {
                switch byte {
                case UInt8(ascii: "~"): out.append(contentsOf: "~0".utf8)
                case UInt8(ascii: "/"): out.append(contentsOf: "~1".utf8)
                case UInt8(ascii: "*"): out.append(contentsOf: "~2".utf8)
                default: out.append(byte)
                }
            }
        }
    }

    private mutating func extend(_ count: Int, _ body: (inout [UInt8]) -> Void) {
        guard scratch.count + count <= Self.pathBytesMax else { return }
        scratch.append(UInt8(ascii: "/"))
        body(&scratch)
    }
}
