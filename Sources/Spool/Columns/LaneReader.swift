internal import Basics

/// Reads columns in the order in which `Lanes` took them; every length is checked.
struct LaneReader {
    var meta: ByteReader
    private(set) var numbers: UnsafeRawBufferPointer
    private(set) var ids: UnsafeRawBufferPointer
    private(set) var texts: UnsafeRawBufferPointer

    /// Which lane a column of integers is in.
    enum Which {
        case numbers, ids
    }

    init(
        meta: UnsafeRawBufferPointer,
        numbers: UnsafeRawBufferPointer,
        ids: UnsafeRawBufferPointer,
        texts: UnsafeRawBufferPointer
    ) {
        self.meta = ByteReader(meta)
        self.numbers = numbers
        self.ids = ids
        self.texts = texts
    }

    /// The next `count` bytes of a lane of integers.
    mutating func take(
        _ count: Int,
        from lane: Which
    ) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        switch lane {
        case .numbers: try Self.take(count, &numbers)
        case .ids: try Self.take(count, &ids)
        }
    }

    /// The next `count` bytes of the lane of texts.
    mutating func takeTexts(_ count: Int) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        try Self.take(count, &texts)
    }

    /// The next byte of the description.
    mutating func byte() throws(DamagedBatch) -> UInt8 {
        do { return try meta.u8() } catch { throw .cutOff }
    }

    /// The next varint of the description, as a count of at most `limit`.
    mutating func count(limit: Int) throws(DamagedBatch) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw DamagedBatch(reason: "a count is too large") }
        return Int(value)
    }

    mutating func varint() throws(DamagedBatch) -> UInt64 {
        do { return try meta.varint() } catch { throw .cutOff }
    }

    mutating func zigzag() throws(DamagedBatch) -> Int64 {
        do { return try meta.zigzag() } catch { throw .cutOff }
    }

    /// The next bytes of the description.
    mutating func raw(_ count: Int) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        do { return try meta.raw(count) } catch { throw .cutOff }
    }

    /// True once all lanes are used up: what is left over would be hidden from every reader.
    var isAtEnd: Bool { meta.isAtEnd && numbers.isEmpty && ids.isEmpty && texts.isEmpty }

    private static func take(
        _ count: Int,
        _ lane: inout UnsafeRawBufferPointer
    ) throws(DamagedBatch) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= lane.count else { throw .cutOff }
        let found = UnsafeRawBufferPointer(rebasing: lane[..<count])
        lane = UnsafeRawBufferPointer(rebasing: lane[count...])
        return found
    }
}

extension DamagedBatch {
    /// A column needs more bytes than there are.
    static var cutOff: DamagedBatch { DamagedBatch(reason: "a column is cut off") }
}
