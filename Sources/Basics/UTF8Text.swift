/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above 10FFFF (Unicode, table 3-7).
public enum UTF8Text {
    /// Length in bytes (1 to 4) of the well-formed sequence at `offset`; 0 if there is none.
    public static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let first = bytes[offset]
        let left = bytes.count - offset
        func follows(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xbf) -> Bool {
            index < left && range.contains(bytes[offset + index])
        }
        switch first {
        case 0x00...0x7f: return 1
        case 0xc2...0xdf: return follows(1) ? 2 : 0
        case 0xe0: return follows(1, 0xa0...0xbf) && follows(2) ? 3 : 0
        case 0xed: return follows(1, 0x80...0x9f) && follows(2) ? 3 : 0
        case 0xe1...0xef: return follows(1) && follows(2) ? 3 : 0
        case 0xf0: return follows(1, 0x90...0xbf) && follows(2) && follows(3) ? 4 : 0
        case 0xf1...0xf3: return follows(1) && follows(2) && follows(3) ? 4 : 0
        case 0xf4: return follows(1, 0x80...0x8f) && follows(2) && follows(3) ? 4 : 0
        default: return 0
        }
    }

    /// Offset of the first byte that is not well-formed UTF-8; nil if all of it is.
    public static func firstInvalid(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        while offset < bytes.count {
            if offset + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    & 0x8080_8080_8080_8080 == 0
            {
                offset += 8
                continue
            }
            let length = sequenceLength(bytes, at: offset)
            if length == 0 { return offset }
            offset += length
        }
        return nil
    }
}
