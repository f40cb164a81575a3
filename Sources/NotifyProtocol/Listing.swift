public import Basics

/// Answers that come page by page: `u32 count`, `u32 more`, and the items.
public enum Listing {
    /// All items, asked for until there are no more.
    ///
    /// - Parameters:
    ///   - item: reads one.
    ///   - page: asks for the page after an item, nil for the first, and gives its bytes.
    public static func all<Item, Failure: Error>(
        of item: (inout ByteReader) throws(TruncatedBytes) -> Item,
        _ page: (_ last: Item?) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [Item] {
        var found: [Item] = []
        while true {
            let body = try page(found.last)
            let before = found.count
            let hasMore = body.withUnsafeBytes { read($0, item, into: &found) }
            // An empty page that promises more would be asked for without end.
            if !hasMore || found.count == before { return found }
        }
    }

    /// True if there is more after this page; what cannot be read ends the list.
    private static func read<Item>(
        _ bytes: UnsafeRawBufferPointer,
        _ item: (inout ByteReader) throws(TruncatedBytes) -> Item,
        into found: inout [Item]
    ) -> Bool {
        var reader = ByteReader(bytes)
        guard let count = try? reader.u32(), let more = try? reader.u32() else { return false }
        for _ in 0..<count {
            guard let one = try? item(&reader) else { return false }
            found.append(one)
        }
        return more != 0
    }

    /// The name behind an item: `u16 length`, the bytes, zeros up to a multiple of 8.
    fileprivate static func name(_ reader: inout ByteReader) throws(TruncatedBytes) -> String {
        let length = Int(try reader.u16())
        let name = try reader.text(length)
        _ = try reader.raw((8 - (length + 2) % 8) % 8)
        return name
    }
}

extension NameInfo {
    /// Reads an item of a listing, name and all.
    public init(listed reader: inout ByteReader) throws(TruncatedBytes) {
        try self.init(from: &reader)
        name = try Listing.name(&reader)
    }
}

extension NameReport {
    /// Reads an item of a listing, name and all.
    public init(listed reader: inout ByteReader) throws(TruncatedBytes) {
        try self.init(from: &reader)
        info.name = try Listing.name(&reader)
    }
}
