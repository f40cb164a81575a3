internal import Basics

/// The text that a payload carries for people.
enum Message {
    /// What stands between the quotes of `message`, still escaped, if the payload is an object with
    /// such a string; of several the last, as JSON readers do.
    static func find(in payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var scanner = JSONScanner(payload)
        guard let range = try? search(&scanner) else { return nil }
        return UnsafeRawBufferPointer(rebasing: payload[range])
    }

    private static func search(_ scanner: inout JSONScanner) throws(JSONFault) -> Range<Int>? {
        guard scanner.take(UInt8(ascii: "{")), !scanner.take(UInt8(ascii: "}")) else { return nil }
        var found: Range<Int>?
        repeat {
            let key = try scanner.string()
            try scanner.expect(UInt8(ascii: ":"))
            let isString = scanner.peek() == UInt8(ascii: "\"")
            let value = try scanner.value()
            guard scanner.bytes[key].elementsEqual("message".utf8) else { continue }
            found = isString ? value.lowerBound + 1..<value.upperBound - 1 : nil
        } while scanner.take(UInt8(ascii: ","))
        return found
    }
}
