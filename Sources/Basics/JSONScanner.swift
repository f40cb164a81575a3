/// Why a text is not the JSON (RFC 8259) that we take, and where.
public struct JSONFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: String, Sendable {
        case unexpectedEnd = "the text ends inside a value"
        case unexpectedByte = "unexpected byte"
        case invalidNumber = "invalid number"
        case invalidEscape = "invalid escape in a string"
        case controlCharacter = "control character in a string"
        case invalidUTF8 = "invalid UTF-8"
        case tooDeep = "nested too deep"
        case trailingBytes = "more bytes after the value"
    }

    /// What is wrong.
    public var reason: Reason
    /// Where, in bytes from the start of the text.
    public var offset: Int

    /// A fault at `offset`.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// `invalid number at byte 17`.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}

/// Walks over JSON text without building anything: checks it to the last byte and tells where the
/// values lie, so that their text can be kept as it came.
///
/// Strict RFC 8259: no NaN, no trailing commas, no raw control characters, well-formed UTF-8.
/// Duplicate keys, lone surrogate escapes and numbers of any size are legal there and pass.
/// It never recurses; its depth limit is 512 levels (`depthMax`), above what real programs send.
public struct JSONScanner {
    /// Deepest nesting of arrays and objects that is taken.
    public static let depthMax = 512

    /// The text.
    public let bytes: UnsafeRawBufferPointer
    /// The next byte to look at.
    public var offset: Int

    /// Starts at the first byte of `bytes`, which must outlive the scanner.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = 0
    }

    /// Checks that `bytes` is exactly one JSON value with optional white space around it.
    ///
    /// - Returns: where the value lies, without the white space.
    @discardableResult
    public static func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> Range<Int> {
        var scanner = JSONScanner(bytes)
        let range = try scanner.value()
        scanner.skipSpace()
        if scanner.offset < bytes.count { throw JSONFault(.trailingBytes, at: scanner.offset) }
        return range
    }

    /// The byte at the current place after white space; nil at the end.
    public mutating func peek() -> UInt8? {
        skipSpace()
        return offset < bytes.count ? bytes[offset] : nil
    }

    /// Steps over `byte` if it comes next (after white space).
    public mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }

    /// Steps over `byte`, which must come next (after white space).
    public mutating func expect(_ byte: UInt8) throws(JSONFault) {
        guard let next = peek() else { throw JSONFault(.unexpectedEnd, at: offset) }
        guard next == byte else { throw JSONFault(.unexpectedByte, at: offset) }
        offset += 1
    }

    /// Steps over a string; the result is what stands between its quotes, still escaped.
    public mutating func string() throws(JSONFault) -> Range<Int> {
        try expect(UInt8(ascii: "\""))
        let start = offset
        try skipStringBody()
        return start..<offset - 1
    }

    /// Steps over a value of any kind and checks all of it.
    ///
    /// - Returns: where the value lies, from its first to its last byte.
    public mutating func value() throws(JSONFault) -> Range<Int> {
        skipSpace()
        let start = offset
        var open = Nesting()
        repeat {
            try openOrScalar(&open)
            try closeOrContinue(&open)
        } while open.depth > 0
        return start..<offset
    }

    /// Steps over white space.
    public mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    /// One scalar, an empty container, or the opening of a container up to its first value.
    private mutating func openOrScalar(_ open: inout Nesting) throws(JSONFault) {
        while true {
            guard let byte = peek() else { throw JSONFault(.unexpectedEnd, at: offset) }
            switch byte {
            case UInt8(ascii: "{"):
                offset += 1
                if take(UInt8(ascii: "}")) { return }
                try open.push(isObject: true, at: offset)
                try key()
            case UInt8(ascii: "["):
                offset += 1
                if take(UInt8(ascii: "]")) { return }
                try open.push(isObject: false, at: offset)
            default:
                return try scalar(byte)
            }
        }
    }

    /// After a value: closes what ends here, or steps over the comma before the next value.
    private mutating func closeOrContinue(_ open: inout Nesting) throws(JSONFault) {
        while open.depth > 0 {
            guard let byte = peek() else { throw JSONFault(.unexpectedEnd, at: offset) }
            if byte == UInt8(ascii: ",") {
                offset += 1
                if open.isObject { try key() }
                return
            }
            let closing = open.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            guard byte == closing else { throw JSONFault(.unexpectedByte, at: offset) }
            offset += 1
            open.depth -= 1
        }
    }

    private mutating func key() throws(JSONFault) {
        _ = try string()
        try expect(UInt8(ascii: ":"))
    }

    private mutating func scalar(_ first: UInt8) throws(JSONFault) {
        switch first {
        case UInt8(ascii: "\""):
            offset += 1
            try skipStringBody()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw JSONFault(.unexpectedByte, at: offset)
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset < bytes.count else { throw JSONFault(.unexpectedEnd, at: offset) }
            guard bytes[offset] == word.utf8Start[index] else {
                throw JSONFault(.unexpectedByte, at: offset)
            }
            offset += 1
        }
    }

    private mutating func number() throws(JSONFault) {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let integer = skipDigits()
        if integer == 0 { throw JSONFault(.invalidNumber, at: start) }
        if integer > 1, bytes[offset - integer] == UInt8(ascii: "0") {
            throw JSONFault(.invalidNumber, at: start)
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            if skipDigits() == 0 { throw JSONFault(.invalidNumber, at: start) }
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < bytes.count, bytes[offset] == 0x2b || bytes[offset] == 0x2d { offset += 1 }
            if skipDigits() == 0 { throw JSONFault(.invalidNumber, at: start) }
        }
    }

    private mutating func skipDigits() -> Int {
        let start = offset
        while offset < bytes.count, bytes[offset] &- 0x30 < 10 { offset += 1 }
        return offset - start
    }

    /// From after the opening quote to after the closing one.
    private mutating func skipStringBody() throws(JSONFault) {
        while true {
            skipPlainWords()
            guard offset < bytes.count else { throw JSONFault(.unexpectedEnd, at: offset) }
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\"") {
                offset += 1
                return
            } else if byte == UInt8(ascii: "\\") {
                try escape()
            } else if byte < 0x20 {
                throw JSONFault(.controlCharacter, at: offset)
            } else if byte < 0x80 {
                offset += 1
            } else {
                let length = UTF8Text.sequenceLength(bytes, at: offset)
                if length == 0 { throw JSONFault(.invalidUTF8, at: offset) }
                offset += length
            }
        }
    }

    /// Eight bytes at a time while none of them is a quote, a backslash, a control or non-ASCII.
    private mutating func skipPlainWords() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5c)
            let special =
                ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
                | ((word &- ones &* 0x20) & ~word) | word
            if special & highs != 0 {
                // Only bytes before the first hit are certain; on little-endian that is the lowest.
                offset += (special & highs).trailingZeroBitCount / 8
                return
            }
            offset += 8
        }
    }

    private mutating func escape() throws(JSONFault) {
        let start = offset
        guard offset + 1 < bytes.count else { throw JSONFault(.unexpectedEnd, at: offset) }
        switch bytes[offset + 1] {
        case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74:
            offset += 2
        case UInt8(ascii: "u"):
            guard offset + 6 <= bytes.count else { throw JSONFault(.unexpectedEnd, at: start) }
            for index in 2..<6 where hexDigit(bytes[offset + index]) == nil {
                throw JSONFault(.invalidEscape, at: start)
            }
            offset += 6
        default:
            throw JSONFault(.invalidEscape, at: start)
        }
    }
}

/// Which containers are open: one bit a level, so that checking needs neither recursion nor memory.
private struct Nesting {
    var depth = 0
    private var kinds: InlineArray<8, UInt64> = .init(repeating: 0)

    var isObject: Bool { kinds[(depth - 1) / 64] >> UInt64((depth - 1) % 64) & 1 == 1 }

    mutating func push(isObject: Bool, at offset: Int) throws(JSONFault) {
        guard depth < JSONScanner.depthMax else { throw JSONFault(.tooDeep, at: offset) }
        let bit = UInt64(1) << UInt64(depth % 64)
        if isObject { kinds[depth / 64] |= bit } else { kinds[depth / 64] &= ~bit }
        depth += 1
    }
}

func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}
