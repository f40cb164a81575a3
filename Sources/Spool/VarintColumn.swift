/// Writes varints to memory whose room was worked out before: 10 bytes a value.
struct VarintWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    init(_ base: UnsafeMutablePointer<UInt8>) {
        self.base = base
    }

    @inline(__always)
    mutating func append(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            base[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        base[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    @inline(__always)
    mutating func append(signed value: Int64) {
        append(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}

/// Reads varints, checked against the end.
///
/// A bad one gives 0 and is remembered: columns are read in tight loops and judged once.
struct VarintReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// True once a varint was cut off or too long.
    private(set) var isBad = false

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    @inline(__always)
    mutating func next() -> UInt64 {
        if offset < bytes.count, bytes[offset] < 0x80 {
            offset += 1
            return UInt64(bytes[offset - 1])
        }
        return long()
    }

    @inline(__always)
    mutating func nextSigned() -> Int64 {
        let raw = next()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    private mutating func long() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        isBad = true
        offset = bytes.count
        return 0
    }
}
