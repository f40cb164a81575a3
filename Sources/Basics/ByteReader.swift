/// Thrown by `ByteReader` when fewer bytes are left than a field needs, or a varint has no end.
public struct TruncatedBytes: Error, Equatable, Sendable {
    /// Where the field began, in bytes from the start.
    public var offset: Int

    /// A field that began at `offset` and has no end.
    public init(offset: Int) {
        self.offset = offset
    }
}

/// Reads little-endian integers, varints and byte ranges; every read is checked against the end.
///
/// It borrows the memory: use it only inside the `withUnsafeBytes` that gave it.
public struct ByteReader {
    /// The memory that is read.
    public let base: UnsafeRawBufferPointer
    /// The next byte to read.
    @inlinable public var offset: Int { position }
    /// Open to callers in other rooms, so that the small reads are compiled into them.
    @usableFromInline var position: Int

    /// Reads `base` from its first byte.
    @inlinable
    public init(_ base: UnsafeRawBufferPointer) {
        self.base = base
        position = 0
    }

    /// Bytes not read yet.
    @inlinable public var remaining: Int { base.count - offset }

    /// True once everything was read.
    @inlinable public var isAtEnd: Bool { offset >= base.count }

    /// The next byte.
    @inlinable
    public mutating func u8() throws(TruncatedBytes) -> UInt8 {
        try fixed(UInt8.self)
    }

    /// The next two bytes, least significant first.
    @inlinable
    public mutating func u16() throws(TruncatedBytes) -> UInt16 {
        try fixed(UInt16.self)
    }

    /// The next four bytes, least significant first.
    @inlinable
    public mutating func u32() throws(TruncatedBytes) -> UInt32 {
        try fixed(UInt32.self)
    }

    /// The next eight bytes, least significant first.
    @inlinable
    public mutating func u64() throws(TruncatedBytes) -> UInt64 {
        try fixed(UInt64.self)
    }

    /// The next unsigned LEB128 varint; more than 10 bytes or 64 bits is an error.
    @inlinable
    public mutating func varint() throws(TruncatedBytes) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < base.count {
            let byte = base[offset]
            position += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
            if shift > 63 { break }
        }
        throw TruncatedBytes(offset: start)
    }

    /// The next zigzag varint.
    @inlinable
    public mutating func zigzag() throws(TruncatedBytes) -> Int64 {
        let raw = try varint()
        return Int64(bitPattern: (raw >> 1)) ^ -Int64(bitPattern: raw & 1)
    }

    /// The next `count` bytes, without copying them.
    @inlinable
    public mutating func raw(_ count: Int) throws(TruncatedBytes) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw TruncatedBytes(offset: offset) }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: base[offset..<offset + count])
    }

    /// The next `count` bytes as text; bytes that are no UTF-8 become U+FFFD.
    @inlinable
    public mutating func text(_ count: Int) throws(TruncatedBytes) -> String {
        String(decoding: try raw(count), as: UTF8.self)
    }

    @inlinable
    mutating func fixed<T: FixedWidthInteger>(_: T.Type) throws(TruncatedBytes) -> T {
        let size = MemoryLayout<T>.size
        guard size <= remaining else { throw TruncatedBytes(offset: offset) }
        defer { position += size }
        return T(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}
