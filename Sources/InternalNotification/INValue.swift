internal import Basics

/// A JSON value that keeps what other models lose: key order, duplicate keys, 64-bit integers, and
/// the digits of every number.
public enum INValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number by its JSON text: `49.90`, `18446744073709551615`.
    case number(String)
    /// A floating-point value; NaN and infinity are refused when it is encoded.
    case double(Double)
    case string(String)
    case array([INValue])
    case object([Member])

    /// One key and its value.
    public struct Member: Sendable, Equatable {
        /// The key.
        public var key: String
        /// The value.
        public var value: INValue
    }

    /// The value under `key` (the last one, if the key occurs more than once).
    public subscript(key: String) -> INValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    /// The text, if it is a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer, if it is a number that is one and fits.
    public var intValue: Int? {
        switch self {
        case .number(let text): Int(text)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, rounded to a double.
    public var doubleValue: Double? {
        switch self {
        case .number(let text): Double(text)
        case .double(let value): value
        default: nil
        }
    }

    /// Appends JSON text; `path` names the value in errors.
    func append(to out: inout [UInt8], path: String) throws(INError) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .double(let value):
            guard value.isFinite else {
                throw .unencodable(key: path, why: "\(value) is not a JSON number")
            }
            out.append(contentsOf: value.description.utf8)
        case .string(let text): JSONText.appendString(text, to: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                try item.append(to: &out, path: "\(path)[\(index)]")
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONText.appendString(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                try member.value.append(to: &out, path: "\(path).\(member.key)")
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}

extension INValue {
    /// Reads JSON text; `null` where it is not valid.
    ///
    /// The depth limit bounds the recursion.
    public init(json bytes: UnsafeRawBufferPointer) {
        guard (try? JSONScanner.validate(bytes)) != nil else {
            self = .null
            return
        }
        var scanner = JSONScanner(bytes)
        self = (try? Self.read(&scanner)) ?? .null
    }

    private static func read(_ scanner: inout JSONScanner) throws(JSONFault) -> INValue {
        switch scanner.peek() {
        case UInt8(ascii: "{"): return .object(try members(&scanner))
        case UInt8(ascii: "["): return .array(try items(&scanner))
        case UInt8(ascii: "\""):
            let range = try scanner.string()
            return .string(
                JSONText.unescaped(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
            )
        default:
            let range = try scanner.value()
            switch String(decoding: scanner.bytes[range], as: UTF8.self) {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            case let digits: return .number(digits)
            }
        }
    }

    private static func members(_ scanner: inout JSONScanner) throws(JSONFault) -> [Member] {
        var found: [Member] = []
        try scanner.expect(UInt8(ascii: "{"))
        if scanner.take(UInt8(ascii: "}")) { return found }
        repeat {
            let range = try scanner.string()
            let key = JSONText.unescaped(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
            try scanner.expect(UInt8(ascii: ":"))
            found.append(Member(key: key, value: try read(&scanner)))
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
        return found
    }

    private static func items(_ scanner: inout JSONScanner) throws(JSONFault) -> [INValue] {
        var found: [INValue] = []
        try scanner.expect(UInt8(ascii: "["))
        if scanner.take(UInt8(ascii: "]")) { return found }
        repeat { found.append(try read(&scanner)) } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "]"))
        return found
    }
}

extension INValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .number("\(value)") }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// An array.
    public init(arrayLiteral elements: INValue...) { self = .array(elements) }
    /// An object; keys stay in this order.
    public init(dictionaryLiteral elements: (String, INValue)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
}
