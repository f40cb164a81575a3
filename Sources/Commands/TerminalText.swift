internal import Basics

/// Text from outside on its way to a terminal or a line of text: nothing in it may move the cursor,
/// start a line of its own, or change the order in which the rest is read.
enum TerminalText {
    /// Appends `bytes` with everything escaped that is not plainly visible: controls (`\n`,
    /// `\x1b`), C1 controls, characters that reorder or break lines (`\u202e`), and bytes that are
    /// not UTF-8 (`\x9b`).
    ///
    /// A backslash stays one, so that JSON text can be pasted.
    static func append(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        var offset = 0
        var plain = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte >= 0x20, byte < 0x7f {
                offset += 1
                continue
            }
            let length = byte < 0x80 ? 1 : UTF8Text.sequenceLength(bytes, at: offset)
            if length > 1, !isUnsafe(bytes, at: offset, length: length) {
                offset += length
                continue
            }
            out.append(contentsOf: bytes[plain..<offset])
            if length > 1 {
                appendUnicode(bytes, at: offset, length: length, to: &out)
            } else {
                appendByte(byte, to: &out)
            }
            offset += max(1, length)
            plain = offset
        }
        out.append(contentsOf: bytes[plain..<offset])
    }

    /// Appends `text`, escaped.
    static func append(_ text: String, to out: inout [UInt8]) {
        var copy = text
        copy.withUTF8 { append(UnsafeRawBufferPointer($0), to: &out) }
    }

    /// `text`, escaped.
    static func escaped(_ text: String) -> String {
        var out: [UInt8] = []
        append(text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// C1 controls, and what reorders or breaks lines: U+061C, U+200E, U+200F, U+2028 to U+202E,
    /// U+2066 to U+2069, U+FEFF.
    private static func isUnsafe(
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int,
        length: Int
    ) -> Bool {
        let second = bytes[offset + 1]
        if length == 2 {
            let isC1 = bytes[offset] == 0xc2 && second < 0xa0
            return isC1 || bytes[offset] == 0xd8 && second == 0x9c
        }
        guard length == 3 else { return false }
        let third = bytes[offset + 2]
        switch (bytes[offset], second) {
        case (0xe2, 0x80): return third == 0x8e || third == 0x8f || (0xa8...0xae).contains(third)
        case (0xe2, 0x81): return (0xa6...0xa9).contains(third)
        case (0xef, 0xbb): return third == 0xbf
        default: return false
        }
    }

    private static func appendByte(_ byte: UInt8, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0a: out.append(UInt8(ascii: "n"))
        case 0x0d: out.append(UInt8(ascii: "r"))
        case 0x09: out.append(UInt8(ascii: "t"))
        default:
            out.append(UInt8(ascii: "x"))
            appendHexadecimal(UInt32(byte), digits: 2, to: &out)
        }
    }

    private static func appendUnicode(
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int,
        length: Int,
        to out: inout [UInt8]
    ) {
        var code = UInt32(bytes[offset] & (length == 2 ? 0x1f : 0x0f))
        for index in 1..<length { code = code << 6 | UInt32(bytes[offset + index] & 0x3f) }
        out.append(contentsOf: "\\u".utf8)
        appendHexadecimal(code, digits: 4, to: &out)
    }

    private static func appendHexadecimal(_ value: UInt32, digits: Int, to out: inout [UInt8]) {
        for place in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(value >> UInt32(place * 4) & 15)
            out.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
        }
    }
}
