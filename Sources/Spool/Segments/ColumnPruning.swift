internal import SQLite

extension ColumnBatchDecoder {
    /// False if no record of the batch can have what a test asks for at its path, as far as the
    /// bounds, constants and dictionaries of its columns tell.
    ///
    /// What SQL would turn down counts as turned down: it compares values of different types by
    /// type, a text being greater than every number.
    func mayHold(_ test: PayloadTest) throws(DamagedBatch) -> Bool {
        guard let pointer = test.path.pointer, let image = try image(), image.rows.isEmpty,
            image.paths.count < ColumnPaths.columnsMax,
            !image.paths.contains(where: { $0.path.contains(0x5c) })
        else { return true }
        var (strings, bares): ([TextNode], [TextNode]) = ([], [])
        var hasDeeper = image.shapes.contains { $0.literals.contains { Self.hasEmpty($0) } }
        for (index, column) in image.paths.enumerated() where column.path.starts(with: pointer) {
            if column.path.count > pointer.count {
                // `/ab` is not within `/a`.
                if column.path[pointer.count] == UInt8(ascii: "/") { hasDeeper = true }
            } else if column.kind == Shape.string {
                strings.append(image.nodes[index])
            } else {
                bares.append(image.nodes[index])
            }
        }
        for value in test.values {
            let isOpen: Bool
            switch value.bound {
            case .integer(let bound):
                let aboveAll = value.kind == .greater || value.kind == .greaterOrEqual
                isOpen =
                    aboveAll && (hasDeeper || !strings.isEmpty)
                    || bares.contains { Self.mayPass($0, value.kind, bound) }
            case .text(let bound) where value.kind == .equal:
                let bytes = Array(bound.utf8)
                isOpen = hasDeeper ? true : try mayHave(bytes, strings)
            default: isOpen = true
            }
            if !isOpen { return false }
        }
        return true
    }

    /// True if numbers or words of a column can compare like this.
    private static func mayPass(_ node: TextNode, _ kind: RecordTest.Kind, _ bound: Int64) -> Bool {
        let range: ClosedRange<Int64>
        switch node {
        case .integers(let node):
            guard let bounds = node.bounds else { return true }
            range = bounds
        case .constant(let piece):
            if piece.bytes.elementsEqual("null".utf8) { return false }
            guard let value = NumberText.integer(piece) else { return true }
            range = value...value
        default: return true
        }
        switch kind {
        case .equal: return range.contains(bound)
        case .less: return range.lowerBound < bound
        case .lessOrEqual: return range.lowerBound <= bound
        case .greater: return range.upperBound > bound
        case .greaterOrEqual: return range.upperBound >= bound
        default: return true
        }
    }

    /// True if a string column can have just this text.
    private func mayHave(_ text: [UInt8], _ columns: [TextNode]) throws(DamagedBatch) -> Bool {
        for node in columns {
            switch node {
            case .constant(let piece):
                if Self.mayBe(text, piece) { return true }
            case .dictionary(let entries, let count, _):
                let pieces = try entries.decode(arena, count: count)
                for index in 0..<count where Self.mayBe(text, pieces[index]) { return true }
            default: return true
            }
        }
        return false
    }

    /// One with an escape may stand for anything.
    private static func mayBe(_ text: [UInt8], _ piece: Piece) -> Bool {
        piece.bytes.elementsEqual(text) || piece.bytes.contains(0x5c)
    }

    /// True if an empty object or array is in a literal: those have no column.
    private static func hasEmpty(_ literal: Piece) -> Bool {
        var last: UInt8 = 0
        for byte in literal.bytes {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: continue
            case UInt8(ascii: "}") where last == UInt8(ascii: "{"): return true
            case UInt8(ascii: "]") where last == UInt8(ascii: "["): return true
            default: last = byte
            }
        }
        return false
    }
}
