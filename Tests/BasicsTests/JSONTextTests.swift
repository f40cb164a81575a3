import Basics
import Testing

@Suite struct JSONTextTests {
    private func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        JSONText.appendString(text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func unquoted(_ json: String) -> String {
        Array(json.utf8.dropFirst().dropLast()).withUnsafeBytes { JSONText.unescaped($0) }
    }

    @Test(arguments: [
        ("", "\"\""), ("plain", "\"plain\""), ("a\"b\\c/", "\"a\\\"b\\\\c/\""),
        ("\u{8}\u{c}\n\r\t", "\"\\b\\f\\n\\r\\t\""), ("\u{0}\u{1f}", "\"\\u0000\\u001f\""),
        ("\u{7f}é\u{2028}😀", "\"\u{7f}é\u{2028}😀\""),
    ])
    func escapes(text: String, json: String) {
        #expect(quoted(text) == json)
        #expect(unquoted(json) == text)
        #expect(fault(json) == nil)
    }

    @Test(arguments: [
        ("\"\\u0041\\u00e9\\u20AC\"", "A\u{e9}\u{20ac}"), ("\"\\ud83d\\ude00\"", "😀"),
        ("\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", "\u{10000}\u{10ffff}"), ("\"\\/\"", "/"),
        // Halves without the other half, in the wrong order, and before another escape.
        ("\"\\ud800\"", "\u{fffd}"), ("\"\\udc00\"", "\u{fffd}"), ("\"\\ud83dx\"", "\u{fffd}x"),
        ("\"\\ude00\\ud83d\"", "\u{fffd}\u{fffd}"), ("\"\\ud83d\\u0041\"", "\u{fffd}A"),
        ("\"\\ud83d\\n\"", "\u{fffd}\n"), ("\"\\ud83d\\ud83d\\ude00\"", "\u{fffd}😀"),
        ("\"\\u0000x\"", "\u{0}x"),
    ])
    func readsEscapes(json: String, text: String) {
        #expect(fault(json) == nil)
        #expect(unquoted(json) == text)
    }

    @Test func everyScalarRoundTrips() {
        var text = String.UnicodeScalarView()
        for value in (0...0xd7ff) as ClosedRange<UInt32> {
            Unicode.Scalar(value).map { text.append($0) }
        }
        for value in stride(from: 0xe000, through: 0x10ffff, by: 61) as StrideThrough<UInt32> {
            Unicode.Scalar(value).map { text.append($0) }
        }
        let json = quoted(String(text))
        #expect(fault(json) == nil)
        #expect(unquoted(json).unicodeScalars.elementsEqual(text))
    }

    @Test func replacesWhatIsNoUTF8() {
        var out: [UInt8] = []
        let bytes: [UInt8] = [0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f]
        bytes.withUnsafeBytes { JSONText.appendString($0, to: &out) }
        let mark = "\u{fffd}"
        let expected = "\"a\(mark)\(mark)(\(mark)\(mark)\(mark)\(mark)\(mark)\""
        #expect(String(decoding: out, as: UTF8.self) == expected)
        #expect(fault(out) == nil)
    }

    /// Unescaping is for checked text, but bytes from a damaged spool must not crash it either.
    @Test func survivesRandomBytes() {
        var random = Seeded(5)
        let parts = Array("\\\\\\uud8dDc0F\"nx".utf8) + [0xff, 0x00]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...16, using: &random)
            let bytes = (0..<count).map { _ in parts.randomElement(using: &random) ?? 0 }
            var out: [UInt8] = []
            bytes.withUnsafeBytes { JSONText.appendUnescaped($0, to: &out) }
            #expect(out.count <= max(1, bytes.count) * 3)
            out.removeAll()
            bytes.withUnsafeBytes { JSONText.appendString($0, to: &out) }
            #expect(fault(out) == nil)
        }
    }
}
