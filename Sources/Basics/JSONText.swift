/// Writing JSON strings, and reading them back.
public enum JSONText {
    /// Appends `text` as a JSON string with its quotes.
    ///
    /// Quote, backslash and the controls below 0x20 are escaped, everything else stays as it is.
    public static func appendString(_ text: some StringProtocol, to out: inout [UInt8]) {
        var copy = String(text)
        copy.withUTF8 { appendString(UnsafeRawBufferPointer($0), to: &out) }
    }

    /// Appends well-formed UTF-8 as a JSON string with its quotes.
    ///
    /// Bytes that are not UTF-8 become U+FFFD, so that the output is valid JSON whatever came in;
    /// callers who must not lose them check with `UTF8Text.firstInvalid` before.
    public static func appendString(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        var offset = 0
        var plain = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte >= 0x20, byte < 0x80, byte != 0x22, byte != 0x5c {
                offset += 1
                continue
            }
            let length = byte < 0x80 ? 0 : UTF8Text.sequenceLength(bytes, at: offset)
            if length > 0 {
                offset += length
                continue
            }
            out.append(contentsOf: bytes[plain..<offset])
            appendEscape(byte, to: &out)
            offset += 1
            plain = offset
        }
        out.append(contentsOf: bytes[plain..<offset])
        out.append(UInt8(ascii: "\""))
    }

    /// Appends what a JSON string says: `escaped` is what stands between the quotes, checked.
    ///
    /// A lone surrogate escape becomes U+FFFD, the only thing that UTF-8 cannot hold.
    public static func appendUnescaped(_ escaped: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        var offset = 0
        while offset < escaped.count {
            let byte = escaped[offset]
            guard byte == UInt8(ascii: "\\"), offset + 1 < escaped.count else {
                out.append(byte)
                offset += 1
                continue
            }
            let kind = escaped[offset + 1]
            offset += 2
            switch kind {
            case UInt8(ascii: "b"): out.append(0x08)
            case UInt8(ascii: "f"): out.append(0x0c)
            case UInt8(ascii: "n"): out.append(0x0a)
            case UInt8(ascii: "r"): out.append(0x0d)
            case UInt8(ascii: "t"): out.append(0x09)
            case UInt8(ascii: "u"): appendScalar(escaped, at: &offset, to: &out)
            default: out.append(kind)
            }
        }
    }

    /// What a JSON string says, as text.
    public static func unescaped(_ escaped: UnsafeRawBufferPointer) -> String {
        var out: [UInt8] = []
        appendUnescaped(escaped, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func appendEscape(_ byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case 0x22, 0x5c: out.append(contentsOf: [0x5c, byte])
        case 0x08: out.append(contentsOf: [0x5c, UInt8(ascii: "b")])
        case 0x09: out.append(contentsOf: [0x5c, UInt8(ascii: "t")])
        case 0x0a: out.append(contentsOf: [0x5c, UInt8(ascii: "n")])
        case 0x0c: out.append(contentsOf: [0x5c, UInt8(ascii: "f")])
        case 0x0d: out.append(contentsOf: [0x5c, UInt8(ascii: "r")])
        case 0x00..<0x20:
            out.append(contentsOf: "\\u00".utf8)
            appendHex(byte, to: &out)
        default: out.append(contentsOf: "\u{fffd}".utf8)
        }
    }

    private static func appendHex(_ byte: UInt8, to out: inout [UInt8]) {
        for digit in [byte >> 4, byte & 15] {
            out.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
        }
    }

    /// The four hex digits at `offset`, and those of a second half if they make a pair.
    private static func appendScalar(
        _ bytes: UnsafeRawBufferPointer,
        at offset: inout Int,
        to out: inout [UInt8]
    ) {
        guard let first = unit(bytes, at: offset) else { return out.append(0x75) }
        offset += 4
        var code = UInt32(first)
        if (0xd800..<0xdc00).contains(first), offset + 6 <= bytes.count,
            bytes[offset] == 0x5c, bytes[offset + 1] == UInt8(ascii: "u"),
            let second = unit(bytes, at: offset + 2), (0xdc00..<0xe000).contains(second)
        {
            offset += 6
            code = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        }
        let scalar = Unicode.Scalar(code) ?? "\u{fffd}"
        out.append(contentsOf: String(Character(scalar)).utf8)
    }

    /// What the four hexadecimal digits of a `\uXXXX` say; nil where they are not whole.
    package static func unit(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt16? {
        guard offset + 4 <= bytes.count else { return nil }
        var value: UInt16 = 0
        for index in 0..<4 {
            guard let digit = hexDigit(bytes[offset + index]) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
