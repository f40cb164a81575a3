/// Appends little-endian integers, varints and raw bytes to a growing buffer.
///
/// The one way in which frames and batches are put together; `ByteReader` is its counterpart.
public struct ByteWriter: Sendable {
    /// What was written so far.
    @inlinable public var bytes: [UInt8] { storage }
    /// Open to callers in other rooms, so that the small writes are compiled into them.
    @usableFromInline var storage: [UInt8] = []

    /// An empty writer with room for `capacity` storage.
    public init(capacity: Int = 0) {
        storage.reserveCapacity(capacity)
    }

    /// Bytes written so far.
    @inlinable public var count: Int { storage.count }

    /// Forgets everything written but keeps the room.
    public mutating func reset() {
        storage.removeAll(keepingCapacity: true)
    }

    /// Forgets everything from `count` bytes on; a larger `count` changes nothing.
    public mutating func truncate(to count: Int) {
        guard count < storage.count else { return }
        storage.removeSubrange(count...)
    }

    /// Appends one byte.
    @inlinable
    public mutating func u8(_ value: UInt8) {
        append(value)
    }

    /// Appends an integer, least significant byte first.
    @inlinable
    public mutating func u16(_ value: UInt16) {
        fixed(value)
    }

    /// Appends an integer, least significant byte first.
    @inlinable
    public mutating func u32(_ value: UInt32) {
        fixed(value)
    }

    /// Appends an integer, least significant byte first.
    @inlinable
    public mutating func u64(_ value: UInt64) {
        fixed(value)
    }

    /// Appends an unsigned LEB128 varint: 1 to 10 bytes, 7 bits each, lowest first.
    @inlinable
    public mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            storage.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        storage.append(UInt8(rest))
    }

    /// Appends a signed varint: zigzag, so that small magnitudes of either sign stay short.
    public mutating func zigzag(_ value: Int64) {
        varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Appends bytes as they are.
    @inlinable
    public mutating func raw(_ more: UnsafeRawBufferPointer) {
        storage.append(contentsOf: more)
    }

    /// Appends bytes as they are.
    public mutating func raw(_ more: some Collection<UInt8>) {
        storage.append(contentsOf: more)
    }

    /// Appends the UTF-8 bytes of a text, without a length or an end mark.
    public mutating func text(_ text: some StringProtocol) {
        storage.append(contentsOf: text.utf8)
    }

    /// Appends zeros until the count is a multiple of `alignment`.
    public mutating func pad(to alignment: Int) {
        while storage.count % alignment != 0 { storage.append(0) }
    }

    /// Overwrites four bytes at `offset`, which must have been written before.
    @inlinable
    public mutating func patch(u32 value: UInt32, at offset: Int) {
        for index in 0..<4 {
            storage[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
        }
    }

    @inlinable
    mutating func append(_ value: UInt8) {
        storage.append(value)
    }

    @inlinable
    mutating func fixed(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { storage.append(contentsOf: $0) }
    }
}
