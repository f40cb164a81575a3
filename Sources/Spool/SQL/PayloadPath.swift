internal import Basics
internal import SQLite

/// A path into a payload, as SQLite's JSON functions write it: `$`, `$.total`, `$.items[0].sku`,
/// `$."a b"`, `$[#-1]`.
struct PayloadPath: Equatable {
    enum Step: Equatable {
        case key([UInt8])
        case index(Int)
        /// From the end: 1 is the last.
        case fromEnd(Int)
    }

    /// The path is not one.
    struct Malformed: Error, CustomStringConvertible {
        let path: String
        var description: String { "'\(path)' is no path such as $.total or $.items[0].sku" }
    }

    let steps: [Step]

    init(_ path: String) throws {
        var rest = Array(path.utf8)[...]
        guard rest.popFirst() == UInt8(ascii: "$") else { throw Malformed(path: path) }
        var steps: [Step] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."):
                guard let key = Self.key(&rest) else { throw Malformed(path: path) }
                steps.append(.key(key))
            case UInt8(ascii: "["):
                guard let step = Self.index(&rest) else { throw Malformed(path: path) }
                steps.append(step)
            default: throw Malformed(path: path)
            }
        }
        self.steps = steps
    }

    /// The last key: payloads without it need not be looked at.
    var lastKey: [UInt8]? {
        for step in steps.reversed() {
            if case .key(let key) = step { return key }
        }
        return nil
    }

    /// The path of columns that its values are in: a JSON Pointer.
    ///
    /// Nil where keys as they are sent may differ from those that are meant, or values may be in
    /// several columns or none.
    var pointer: [UInt8]? {
        var pointer: [UInt8] = []
        for step in steps {
            pointer.append(UInt8(ascii: "/"))
            switch step {
            case .key(let key):
                for byte in key {
                    switch byte {
                    case UInt8(ascii: "~"): pointer += Array("~0".utf8)
                    case UInt8(ascii: "/"): pointer += Array("~1".utf8)
                    case UInt8(ascii: "*"): pointer += Array("~2".utf8)
                    case 0x00..<0x20, 0x22, 0x5c: return nil
                    default: pointer.append(byte)
                    }
                }
            case .index(let index) where index < ColumnPaths.itemsMax:
                pointer += Array(String(index).utf8)
            default: return nil
            }
        }
        return steps.isEmpty || pointer.count >= ColumnPaths.pathBytesMax ? nil : pointer
    }

    private static func key(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        if rest.first == UInt8(ascii: "\"") {
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return Array(rest[..<end])
        }
        let key = rest.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }
        rest = rest.dropFirst(key.count)
        return key.isEmpty ? nil : Array(key)
    }

    private static func index(_ rest: inout ArraySlice<UInt8>) -> Step? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        var text = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        let fromEnd = text.hasPrefix("#-")
        if fromEnd { text.removeFirst(2) }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text)
        else { return nil }
        return fromEnd ? .fromEnd(number) : .index(number)
    }

    /// The value there, as `payload ->> path` gives it: text without quotes, numbers as numbers,
    /// true as 1, objects and arrays as the text that was sent; NULL for null and for nothing.
    func value(in payload: UnsafeRawBufferPointer) -> SQLValue {
        var scanner = JSONScanner(payload)
        do throws(JSONFault) {
            for step in steps {
                guard try Self.enter(step, &scanner) else { return .null }
            }
            let isString = scanner.peek() == UInt8(ascii: "\"")
            let range = isString ? try scanner.string() : try scanner.value()
            let bytes = UnsafeRawBufferPointer(rebasing: payload[range])
            return isString ? .text(JSONText.unescaped(bytes)) : Self.plain(bytes)
        } catch {
            return .null
        }
    }

    /// A value that is no string.
    private static func plain(_ bytes: UnsafeRawBufferPointer) -> SQLValue {
        let text = String(decoding: bytes, as: UTF8.self)
        switch bytes.first {
        case UInt8(ascii: "n"), nil: return .null
        case UInt8(ascii: "t"): return .integer(1)
        case UInt8(ascii: "f"): return .integer(0)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .text(text)
        default:
            let isWhole = !bytes.contains { $0 == 0x2e || $0 | 0x20 == 0x65 }
            if isWhole, let number = Int64(text) { return .integer(number) }
            return Double(text).map { .real($0) } ?? .null
        }
    }

    /// Goes to the value of a step; false if there is none.
    private static func enter(
        _ step: Step,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> Bool {
        switch step {
        case .key(let key): return try enter(key, &scanner)
        case .index(let index): return try enter(index, &scanner)
        case .fromEnd(let number):
            var counter = scanner
            let count = try Self.count(&counter)
            guard number > 0, number <= count else { return false }
            return try enter(count - number, &scanner)
        }
    }

    private static func enter(
        _ key: [UInt8],
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> Bool {
        guard scanner.take(UInt8(ascii: "{")), scanner.peek() != UInt8(ascii: "}") else {
            return false
        }
        repeat {
            scanner.skipSpace()
            let range = try scanner.string()
            try scanner.expect(UInt8(ascii: ":"))
            let name = UnsafeRawBufferPointer(rebasing: scanner.bytes[range])
            if isSame(name, key) { return true }
            _ = try scanner.value()
        } while scanner.take(UInt8(ascii: ","))
        return false
    }

    private static func isSame(_ name: UnsafeRawBufferPointer, _ key: [UInt8]) -> Bool {
        if name.elementsEqual(key) { return true }
        guard name.contains(UInt8(ascii: "\\")) else { return false }
        var plain: [UInt8] = []
        JSONText.appendUnescaped(name, to: &plain)
        return plain == key
    }

    private static func enter(
        _ index: Int,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> Bool {
        guard scanner.take(UInt8(ascii: "[")), scanner.peek() != UInt8(ascii: "]") else {
            return false
        }
        var left = index
        while left > 0 {
            _ = try scanner.value()
            guard scanner.take(UInt8(ascii: ",")) else { return false }
            left -= 1
        }
        return true
    }

    private static func count(_ scanner: inout JSONScanner) throws(JSONFault) -> Int {
        guard scanner.take(UInt8(ascii: "[")), scanner.peek() != UInt8(ascii: "]") else { return 0 }
        var count = 0
        repeat {
            _ = try scanner.value()
            count += 1
        } while scanner.take(UInt8(ascii: ","))
        return count
    }
}
