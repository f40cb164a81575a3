import Basics
import Telemetry
import Testing

@testable import Commands

private let time: Int64 = 1_796_008_800_123_456_789

private func render(
    _ format: RecordFormat,
    _ payload: String,
    peer: String = "com.vendor.pos",
    kind: String = "order.created",
    isTerminal: Bool = false
) -> String {
    var renderer = RecordRenderer(format, zone: .utc, isTerminal: isTerminal)
    var out: [UInt8] = []
    Array(payload.utf8).withUnsafeBytes { bytes in
        let record = RecordItem(
            instance: PeerInstance(identifier: peer, epoch: 1_796_000_000_000_000_000),
            pid: 812,
            uid: 1000,
            kind: kind,
            envelope: Envelope(sequence: 42, time: time, received: time + 1_544_211),
            store: 1071,
            payload: bytes
        )
        renderer.append(record, to: &out)
    }
    return String(decoding: out, as: UTF8.self)
}

private let prefix = "2026-11-30 03:20:00.123456 com.vendor.pos[812] order.created info: "

@Test func jsonHasTheDocumentedShape() {
    let payload = #"{"id":"ord_42","items":3,"total":49.90,"a":1,"a":2,"n":18446744073709551615}"#
    let expected =
        #"{"time":"2026-11-30T03:20:00.123456789Z","peer":"com.vendor.pos","kind":"order.created","#
        + #""level":"info","seq":42,"epoch":1796000000000000000,"#
        + #""received":"2026-11-30T03:20:00.125001000Z","#
        + #""id":"com.vendor.pos/1796000000000000000/42","store":1071,"pid":812,"uid":1000,"#
        + #""payload":"# + payload + "}\n"
    #expect(render(.json, payload) == expected)
}

@Test(arguments: [
    "{}", "[1,\n 2]", "\"\"", "null", "{\r\n\t\"a\": \"b\"\r\n}", #""\u001b[2J\ud800""#,
    #"{"message":"ok\n2030-01-01T00:00:00Z host fake[1]: forged"}"#, "\"\u{202e}\u{9b}\u{2028}\"",
    "",
])
func jsonIsOneValidLine(payload: String) throws {
    for peer in ["com.vendor.pos", "a\"b\\\n\u{1b}\u{202e}"] {
        let line = render(.json, payload, peer: peer, kind: "k\"\n")
        #expect(line.utf8.filter { $0 == 0x0a || $0 == 0x0d }.count == 1)
        try Array(line.utf8).withUnsafeBytes { bytes in
            _ = try JSONScanner.validate(bytes)
        }
    }
}

@Test func longPayloadsAreWhole() {
    let payload = "{\"message\":\"" + String(repeating: "x", count: 10_000) + "\"}"
    #expect(render(.json, payload).contains(payload))
    #expect(render(.short, payload).utf8.count == prefix.utf8.count + 10_001)
}

@Test func shortShowsTheMessageOrThePayload() {
    let table: [(String, String)] = [
        (#"{"message":"hello"}"#, "hello"),
        (#"{"a":1,"message":"one","message":"two"}"#, "two"),
        (#"{"a":{"message":"deep"}}"#, #"{"a":{"message":"deep"}}"#),
        (#"{"message":7}"#, #"{"message":7}"#),
        (#"{"message":""}"#, ""),
        (#"{"message":"   "}"#, "   "),
        (#""text""#, #""text""#),
        ("{}", "{}"),
        ("{\n \"a\": 1\n}", "{  \"a\": 1 }"),
        (#"{"message":"null\u0000here"}"#, "null\\x00here"),
        (#"{"message":"tab\tnew\nline\rback"}"#, "tab\\tnew\\nline\\rback"),
        (#"{"message":"\u001b[2J\u001b]0;title\u0007"}"#, "\\x1b[2J\\x1b]0;title\\x07"),
        (#"{"message":"\u009b\u202e\u2066\u007f"}"#, "\\u009b\\u202e\\u2066\\x7f"),
        ("{\"message\":\"\u{9b}\u{202e}\u{7f}é😀\"}", "\\u009b\\u202e\\x7fé😀"),
        ("{\"key\u{1b}\":1}", "{\"key\\x1b\":1}"),
        ("", ""),
    ]
    for (payload, expected) in table {
        #expect(render(.short, payload) == prefix + expected + "\n")
        #expect(render(.cat, payload, isTerminal: true) == expected + "\n")
    }
}

@Test func namesAreEscapedAsWell() {
    let line = render(.short, "{}", peer: "evil\u{1b}[2J\nroot", kind: "k\u{202e}")
    #expect(line.hasPrefix("2026-11-30 03:20:00.123456 evil\\x1b[2J\\nroot[812] k\\u202e info: "))
    #expect(line.utf8.filter { $0 == 0x0a }.count == 1)
}

@Test func nothingForgesALine() {
    let forged = #"{"message":"ok\n2030-01-01T00:00:00Z host fake[1]: forged"}"#
    #expect(render(.short, forged) == prefix + "ok\\n2030-01-01T00:00:00Z host fake[1]: forged\n")
}

@Test func catIntoAPipeKeepsTheBytes() {
    let payload = #"{"message":"\u001b[2J\na\u0000b\u202e"}"#
    #expect(render(.cat, payload) == "\u{1b}[2J\na\u{0}b\u{202e}\n")
    #expect(render(.cat, "{\n\"a\":1}") == "{\n\"a\":1}\n")
}

@Test func everyByteIsHarmlessInShort() {
    for seed in 0..<2000 {
        var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
        let bytes = (0..<24).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        var out: [UInt8] = []
        bytes.withUnsafeBytes { TerminalText.append($0, to: &out) }
        let text = String(decoding: out, as: UTF8.self)
        #expect(out.withUnsafeBytes { UTF8Text.firstInvalid($0) } == nil)
        #expect(
            text.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value)
                    && !(0x2028...0x202e).contains($0.value)
                    && !(0x2066...0x2069).contains($0.value)
            }
        )
    }
}
