import Basics
import Testing

/// The fault that a scan of `bytes` ends with; nil if they are one JSON value.
func fault(_ bytes: [UInt8]) -> JSONFault? {
    bytes.withUnsafeBytes { raw in
        do throws(JSONFault) {
            try JSONScanner.validate(raw)
            return nil
        } catch {
            return error
        }
    }
}

func fault(_ text: String) -> JSONFault? {
    fault(Array(text.utf8))
}

@Suite struct JSONScannerTests {
    @Test(arguments: [
        "0", "-0", "1.0", "1e400", "-1E-400", "0.10", "123456789012345678901234567890", "1e+5",
        "\"\"", "\"a\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"😀\"", "\"\u{7f}\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "true", "false", "null", "{}", "[]", "[[],{}]", "[ ]",
        "{\"a\":1,\"a\":2}", "{\"\":\"\"}", " \t\r\n[1 , 2]\n",
        "{ \"a\" : [ { } ] , \"b\" : null }",
        "\"\u{2028}\"", "[1,[2,[3,{\"a\":[4]}]]]", "\"12345678\"", "\"1234567\\n89\"",
    ])
    func accepts(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("nul", .unexpectedEnd, 3),
            ("nulL", .unexpectedByte, 3), ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0),
            ("Infinity", .unexpectedByte, 0), ("-Infinity", .invalidNumber, 0),
            ("+1", .unexpectedByte, 0), ("01", .invalidNumber, 0), ("-01", .invalidNumber, 0),
            ("-", .invalidNumber, 0), ("1.", .invalidNumber, 0), (".5", .unexpectedByte, 0),
            ("1e", .invalidNumber, 0), ("1e+", .invalidNumber, 0), ("0x1", .trailingBytes, 1),
            ("1 2", .trailingBytes, 2), ("{}}", .trailingBytes, 2), ("1,", .trailingBytes, 1),
            ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3),
            ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1),
            ("[1 2]", .unexpectedByte, 3),
            ("]", .unexpectedByte, 0), ("[}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2),
            ("{", .unexpectedEnd, 1), ("{1:2}", .unexpectedByte, 1),
            ("{\"a\"}", .unexpectedByte, 4),
            ("{\"a\":}", .unexpectedByte, 5), ("{\"a\":1,}", .unexpectedByte, 7),
            ("{\"a\":1]", .unexpectedByte, 6), ("{\"a\" 1}", .unexpectedByte, 5),
            ("{'a':1}", .unexpectedByte, 1), ("// x\n1", .unexpectedByte, 0),
            ("\"", .unexpectedEnd, 1), ("\"a", .unexpectedEnd, 2), ("\"\\", .unexpectedEnd, 1),
            ("\"\\\"", .unexpectedEnd, 3), ("\"\\x\"", .invalidEscape, 1),
            ("\"\\u12\"", .unexpectedEnd, 1), ("\"\\u12g4\"", .invalidEscape, 1),
            ("\"\\u 123\"", .invalidEscape, 1), ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{0}\"", .controlCharacter, 1), ("\"1234567\t9\"", .controlCharacter, 8),
            ("\u{feff}1", .unexpectedByte, 0), ("\u{a0}1", .unexpectedByte, 0),
        ] as [(String, JSONFault.Reason, Int)]
    )
    func refuses(text: String, reason: JSONFault.Reason, offset: Int) {
        #expect(fault(text) == JSONFault(reason, at: offset))
    }

    @Test func saysWhatAndWhere() {
        #expect(fault("[01]")?.description == "invalid number at byte 1")
    }

    private func nested(_ depth: Int, _ open: String, _ close: String, _ inside: String) -> String {
        String(repeating: open, count: depth) + inside + String(repeating: close, count: depth)
    }

    @Test(arguments: [("[", "]", "1"), ("{\"a\":", "}", "1"), ("[[],", "]", "{}")])
    func limitsTheDepth(open: String, close: String, inside: String) {
        #expect(JSONScanner.depthMax == 512)
        #expect(fault(nested(512, open, close, inside)) == nil)
        #expect(fault(nested(513, open, close, "1"))?.reason == .tooDeep)
        #expect(fault(nested(10_000, open, close, "1"))?.reason == .tooDeep)
        #expect(fault(nested(512, open, "", ""))?.reason == .unexpectedEnd)
    }

    @Test func seesWhichContainerCloses() {
        // Across the words of the nesting's bit field.
        for depth in [63, 64, 65, 128, 511] {
            let open = nested(depth, "[", "", "{\"a\":")
            #expect(fault(open + "1}" + nested(depth, "]", "", "")) == nil)
            #expect(fault(open + "1]" + nested(depth, "]", "", ""))?.reason == .unexpectedByte)
        }
    }

    @Test func tellsWhereValuesLie() throws {
        let bytes = Array(" { \"k\\n\" : [1, 2] , \"m\": 3.50 } ".utf8)
        let parts = try bytes.withUnsafeBytes { raw in
            var scanner = JSONScanner(raw)
            var found: [Range<Int>] = []
            try scanner.expect(UInt8(ascii: "{"))
            repeat {
                found.append(try scanner.string())
                try scanner.expect(UInt8(ascii: ":"))
                found.append(try scanner.value())
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
            return found
        }
        let texts = parts.map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(texts == ["k\\n", "[1, 2]", "m", "3.50"])
        let range = try bytes.withUnsafeBytes { try JSONScanner.validate($0) }
        #expect(range == 1..<bytes.count - 1)
    }

    /// Every place of a special byte within and across the eight-byte steps.
    @Test func findsSpecialBytesAtEveryPlace() {
        for place in 0..<24 {
            var inside = [UInt8](repeating: UInt8(ascii: "x"), count: 24)
            for (byte, reason) in [
                (0x1f, .controlCharacter), (0x00, .controlCharacter), (0x80, .invalidUTF8),
                (0xff, .invalidUTF8),
            ] as [(UInt8, JSONFault.Reason)] {
                inside[place] = byte
                #expect(fault([0x22] + inside + [0x22]) == JSONFault(reason, at: place + 1))
            }
            for byte in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f] as [UInt8] {
                inside[place] = byte
                #expect(fault([0x22] + inside + [0x22]) == nil)
            }
            inside[place] = 0x22
            #expect(fault([0x22] + inside) == (place == 23 ? nil : fault([0x22] + inside)))
            #expect((fault([0x22] + inside) == nil) == (place == 23))
        }
    }

    private static let samples = [
        "{\"id\":\"ord_42\",\"items\":[{\"sku\":\"abc\",\"n\":3},{}],\"total\":49.90,\"ok\":true}",
        "[1,-2.5e+10,\"\\u00e9\\ud83d\\ude00 é😀\",null,[[[]]],{\"a\":{\"b\":[false]}}]",
    ]

    /// Damage never crashes, and what is taken in spite of it is well-formed UTF-8 at least.
    @Test(arguments: samples)
    func survivesDamage(sample: String) {
        var random = Seeded(UInt64(sample.utf8.count))
        let interesting =
            Array("{}[]\",:\\u0123e+-.tfn \u{0}\u{7f}".utf8) + [0x80, 0xc0, 0xed, 0xff]
        for _ in 0..<20_000 {
            var bytes = Array(sample.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let byte = interesting.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2 where bytes.count > 1: bytes.remove(at: place)
                default: bytes.removeSubrange((place + 1)...)
                }
            }
            guard let found = fault(bytes) else {
                #expect(bytes.withUnsafeBytes { UTF8Text.firstInvalid($0) } == nil)
                continue
            }
            #expect((0...bytes.count).contains(found.offset))
        }
    }

    @Test(arguments: samples)
    func refusesEveryPrefix(sample: String) {
        let bytes = Array(sample.utf8)
        for count in 0..<bytes.count { #expect(fault(Array(bytes[..<count])) != nil) }
    }
}
