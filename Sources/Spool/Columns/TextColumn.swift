internal import Basics

/// A column of texts: constant, plain, dictionary, pattern; of bare values also integers and
/// decimals.
///
/// Invariants:
/// 1. Reading gives back every text to the byte.
/// 2. No text has a byte below 0x20 in it, so that markers and ends need no escape.
enum TextColumn {
    /// The first byte of a column's description.
    enum Form {
        static let constant: UInt8 = 0
        static let plain: UInt8 = 1
        static let dictionary: UInt8 = 2
        static let pattern: UInt8 = 3
        static let integers: UInt8 = 4
        static let decimals: UInt8 = 5
    }

    /// What a column may still be made of: dictionaries hold no dictionaries, patterns no patterns.
    struct Choice {
        var dictionary = true
        var pattern = true
    }

    /// Appends a column of strings.
    static func encode(
        _ pieces: UnsafeBufferPointer<Piece>,
        _ choice: Choice,
        _ lanes: inout Lanes
    ) {
        guard let first = pieces.first else { return }
        if isConstant(pieces) {
            lanes.meta.u8(Form.constant)
            lanes.meta.varint(UInt64(first.count))
            lanes.meta.raw(first.bytes)
            lanes.alone.append(first)
            return
        }
        if choice.dictionary, encodeDictionary(pieces, choice, &lanes) { return }
        if choice.pattern, DigitPattern.encode(pieces, &lanes) { return }
        lanes.meta.u8(Form.plain)
        encodePlain(pieces, &lanes)
    }

    /// Appends a column of numbers and words.
    static func encodeBare(_ pieces: UnsafeBufferPointer<Piece>, _ lanes: inout Lanes) {
        if isConstant(pieces) { return encode(pieces, Choice(), &lanes) }
        if encodeIntegers(pieces, &lanes) { return }
        if encodeDictionary(pieces, Choice(pattern: false), &lanes) { return }
        if DecimalColumn.encode(pieces, &lanes) { return }
        encode(pieces, Choice(pattern: false), &lanes)
    }

    static func encodePlain(_ pieces: UnsafeBufferPointer<Piece>, _ lanes: inout Lanes) {
        var total = 0
        for piece in pieces { total += piece.count + 1 }
        lanes.meta.varint(UInt64(total))
        lanes.texts.append(total) { out in
            var at = out
            for piece in pieces {
                at.update(from: piece.start, count: piece.count)
                at[piece.count] = Lanes.end
                at += piece.count + 1
            }
        }
    }

    private static func isConstant(_ pieces: UnsafeBufferPointer<Piece>) -> Bool {
        let first = pieces[0]
        for piece in pieces where !piece.isEqual(first) { return false }
        return true
    }

    private static func encodeDictionary(
        _ pieces: UnsafeBufferPointer<Piece>,
        _ choice: Choice,
        _ lanes: inout Lanes
    ) -> Bool {
        let most = pieces.count / 4
        guard most > 0 else { return false }
        var dictionary = TextDictionary(capacity: min(most, 512))
        let isSmall = withUnsafeTemporaryAllocation(of: Int64.self, capacity: pieces.count) { ids in
            var last = pieces[0]
            var id = dictionary.id(of: last)
            for (index, piece) in pieces.enumerated() {
                if !piece.isEqual(last) {
                    id = dictionary.id(of: piece)
                    last = piece
                    if dictionary.count > most { return false }
                }
                ids[index] = Int64(id)
            }
            lanes.meta.u8(Form.dictionary)
            lanes.meta.varint(UInt64(dictionary.count))
            IntegerColumn.encode(
                UnsafeBufferPointer(ids),
                withBounds: false,
                orders: 1...1,
                meta: &lanes.meta,
                lane: &lanes.ids
            )
            return true
        }
        guard isSmall else { return false }
        dictionary.entries.withUnsafeBufferPointer {
            encode($0, Choice(dictionary: false, pattern: choice.pattern), &lanes)
        }
        return true
    }

    private static func encodeIntegers(
        _ pieces: UnsafeBufferPointer<Piece>,
        _ lanes: inout Lanes
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: pieces.count) { values in
            for (index, piece) in pieces.enumerated() {
                guard let value = NumberText.integer(piece) else { return false }
                values[index] = value
            }
            lanes.meta.u8(Form.integers)
            IntegerColumn.encode(
                UnsafeBufferPointer(values),
                withBounds: true,
                meta: &lanes.meta,
                lane: &lanes.numbers
            )
            return true
        }
    }
}
