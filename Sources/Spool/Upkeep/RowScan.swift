internal import SQLite

/// A row as it lies in a page of SQLite's, found without the tree that led to it.
struct RawRow {
    /// Its number; 0 where that cannot be told.
    var id: Int64
    /// Its columns; the first, its number, is NULL.
    var values: [SQLValue]
}

/// Finds rows of a table in all pages of a file, by the look of them.
///
/// A row begins with the length of its head, then a NULL for its number, then one type a column.
/// That is looked for at every byte, so that a page whose own head is damaged gives its rows too.
/// What does not fit in the page lies in a chain of overflow pages: it is followed by its pointers,
/// and by the order of pages where those lead nowhere.
struct RowScan {
    /// Columns of the table, the number being the first.
    let columns: Int
    /// What the columns after the number have to be: texts and blobs by place, all others integers.
    var texts: Set<Int> = []
    var blobs: Set<Int> = []
    /// No row of ours is larger.
    private static let bytesMax = 80 << 20

    /// Hands out every row that `isSound` takes, page by page.
    ///
    /// - Parameter take: false where the row makes no sense; it is then tried by the order of
    ///   pages.
    func forEach(in file: borrowing PageFile, _ take: (RawRow) throws -> Bool) rethrows {
        guard file.count > 0 else { return }
        for number in 1...file.count {
            guard let page = file.page(number) else { continue }
            var at = 0
            while at + columns < page.count {
                guard page[at + 1] == 0, Int(page[at]) > columns,
                    let head = head(page, at), let end = try offer(head, page, number, file, take)
                else {
                    at += 1
                    continue
                }
                at = end
            }
        }
    }

    /// The head of a row: where its body begins, and the type of each column.
    private struct Head {
        var start: Int
        var body: Int
        var types: [UInt64]
        /// Bytes of all of it.
        var size: Int
    }

    private func head(_ page: [UInt8], _ start: Int) -> Head? {
        var at = start
        let (length, _) = Self.varint(page, &at)
        guard length < 128 else { return nil }
        let end = start + Int(length)
        guard end <= page.count else { return nil }
        var types: [UInt64] = []
        var size = Int(length)
        while at < end, types.count < columns {
            let (type, isWhole) = Self.varint(page, &at)
            guard isWhole, fits(type, types.count) else { return nil }
            types.append(type)
            let own = Self.size(type)
            guard own <= Self.bytesMax - size else { return nil }
            size += own
        }
        guard at == end, types.count == columns else { return nil }
        return Head(start: start, body: end, types: types, size: size)
    }

    private func fits(_ type: UInt64, _ column: Int) -> Bool {
        if column == 0 { return type == 0 }
        if texts.contains(column) { return type >= 13 && type & 1 == 1 }
        if blobs.contains(column) { return type >= 12 && type & 1 == 0 }
        return (1...6).contains(type) || type == 8 || type == 9
    }

    /// Gives a row to `take`; where it goes on behind it, or nil if it was not taken.
    private func offer(
        _ head: Head,
        _ page: [UInt8],
        _ number: Int,
        _ file: borrowing PageFile,
        _ take: (RawRow) throws -> Bool
    ) rethrows -> Int? {
        let id = Self.id(before: head.start, size: head.size, page)
        let local = Self.local(head.size, file.pageSize)
        guard head.start + local <= page.count else { return nil }
        for followsPointers in [true, false] {
            guard
                let bytes = Self.bytes(head, local, page, number, file, followsPointers)
            else { continue }
            if try take(RawRow(id: id, values: values(head, bytes))) { return head.start + local }
            if local == head.size { break }
        }
        return nil
    }

    /// How much of a row lies in its leaf.
    private static func local(_ size: Int, _ pageSize: Int) -> Int {
        if size <= pageSize - 35 { return size }
        let least = (pageSize - 12) * 32 / 255 - 23
        let some = least + (size - least) % (pageSize - 4)
        return some <= pageSize - 35 ? some : least
    }

    /// All bytes of a row.
    private static func bytes(
        _ head: Head,
        _ local: Int,
        _ page: [UInt8],
        _ number: Int,
        _ file: borrowing PageFile,
        _ followsPointers: Bool
    ) -> [UInt8]? {
        var bytes = Array(page[head.start..<head.start + local])
        var next = PageFile.number(page, head.start + local)
        if !followsPointers, local == head.size { return nil }
        var steps = 0
        while bytes.count < head.size {
            guard let more = file.page(next), steps <= file.count else { return nil }
            bytes += more[4..<min(file.pageSize, 4 + head.size - bytes.count)]
            next = followsPointers ? PageFile.number(more, 0) : next + 1
            steps += 1
        }
        return bytes
    }

    /// The number of a row, which stands before it, and before that its size.
    private static func id(before start: Int, size: Int, _ page: [UInt8]) -> Int64 {
        for length in 1...9 where start - length > 0 {
            var at = start - length
            let (id, _) = varint(page, &at)
            guard at == start else { continue }
            for width in 1...5 where start - length - width >= 0 {
                var before = start - length - width
                let (said, _) = varint(page, &before)
                if before == start - length, said == UInt64(size) { return Int64(bitPattern: id) }
            }
        }
        return 0
    }

    private func values(_ head: Head, _ bytes: [UInt8]) -> [SQLValue] {
        var at = head.body - head.start
        return head.types.map { type in
            let size = Self.size(type)
            defer { at += size }
            let part = bytes[at..<at + size]
            switch type {
            case 0: return .null
            case 8: return .integer(0)
            case 9: return .integer(1)
            case 1...6:
                var value: Int64 = (part.first ?? 0) >= 0x80 ? -1 : 0
                for byte in part { value = value << 8 | Int64(byte) }
                return .integer(value)
            default:
                return type & 1 == 1
                    ? .text(String(decoding: part, as: UTF8.self)) : .blob(Array(part))
            }
        }
    }

    /// Bytes of a column of this type.
    private static func size(_ type: UInt64) -> Int {
        switch type {
        case 0...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 8...11: 0
        default: Int(clamping: (type - 12) / 2)
        }
    }

    /// SQLite's number of 1 to 9 bytes, the highest first; false where the page ends in it.
    private static func varint(_ page: [UInt8], _ at: inout Int) -> (UInt64, Bool) {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard at < page.count else { return (0, false) }
            let byte = page[at]
            at += 1
            if index == 8 { return (value << 8 | UInt64(byte), true) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { break }
        }
        return (value, true)
    }
}
