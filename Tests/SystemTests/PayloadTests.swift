import LinuxIO
import TestKit
import Testing

/// Odd payloads come back as they went in, or are refused by line and reason; neighbours are
/// unharmed.
@Suite struct PayloadTests {
    @Test("every odd JSON value comes back byte for byte or is refused with its line and reason")
    func oddValues() throws {
        let station = try Station()
        try station.startAgent()
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        let long = "\"" + String(repeating: "0123456789", count: 100_000) + "\""
        let good = [
            "1.0", "1e400", "123456789012345678901234567890", #"{"a":1,"a":2}"#, #""\u0000""#,
            "\"😀\"", "\"\"", long, "[]", "{}", "null", #"{ "spaced" : [ 1 , 2 ] }"#,
            "18446744073709551615", "-0.0", #""\ud800""#,
        ]
        let bad: [(bytes: [UInt8], reason: String)] = [
            (Array(deep.utf8), "nested too deep"), (Array("NaN".utf8), "unexpected byte"),
            ([0x22, 0xff, 0x22], "invalid UTF-8"), (Array("{\"a\":}".utf8), "unexpected byte"),
            (Array("1 2".utf8), "more bytes"), ([], "ends"),
        ]
        var input: [UInt8] = []
        for (index, text) in good.enumerated() {
            input += Array(text.utf8) + [0x0a]
            if index < bad.count { input += bad[index].bytes + [0x0a] }
        }
        let outcome = try station.run(["send", "--as", "odd", "--format", "json"], input: input)
        #expect(outcome.status == 2)
        for (index, wrong) in bad.enumerated() {
            let line = outcome.error.split(separator: "\n")
                .first { $0.contains("line \(index * 2 + 2):") }
            #expect(line?.contains(wrong.reason) == true, "\(outcome.error)")
        }
        #expect(outcome.error.contains("\(bad.count) lines refused, \(good.count) sent"))
        let records = try station.exported()
        #expect(records.map(\.payload) == good)
        #expect(records.map(\.sequence) == Array(1...good.count))
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test("a message that fits no ring is refused with its size; what is around it is stored")
    func tooLarge() throws {
        let station = try Station()
        try station.startAgent()
        var seed: UInt64 = 1
        let noise = (0..<200_000).map { _ -> Character in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1
            return Character(Unicode.Scalar(UInt8(33 + (seed >> 33) % 90)))
        }
        let input = "before\n" + String(noise) + "\nafter\n"
        let outcome = try station.run(["send", "--as", "big"], input: Array(input.utf8))
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("line 2") && outcome.error.contains("limit"))
        let lines = try station.exported().filter { $0.kind == "line" }
        #expect(lines.map(\.payload) == [#"{"message":"before"}"#, #"{"message":"after"}"#])
    }

    @Test("case 32: one line of limit + 1 bytes in a thousand costs itself, and a record says so")
    func oversizeAmongMany() throws {
        let station = try Station()
        try station.startAgent()
        var input: [UInt8] = []
        for number in 1...1000 {
            if number == 500 { input += [UInt8](repeating: 0x78, count: (8 << 20) + 1) + [0x0a] }
            input += Array("line \(number)\n".utf8)
        }
        let outcome = try station.run(["send", "--as", "big"], input: input)
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("line 500: longer than 8388608 bytes"), "\(outcome.error)")
        #expect(outcome.error.contains("1 lines refused, 1000 sent"))
        let records = try station.exported()
        let expected = (1...1000).map { #"{"message":"line \#($0)"}"# }
        #expect(records.filter { $0.kind == "line" }.map(\.payload) == expected)
        let refused = records.filter { $0.kind == "intel.refused" }
        #expect(refused.map(\.peer) == ["big"])
        #expect(refused.map(\.payload) == [#"{"line":500,"bytes":8388609,"limit":8388608}"#])
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test("case 34: what stands behind a NUL is stored, found, and shown escaped")
    func nulByte() throws {
        let station = try Station()
        try station.startAgent()
        let sent = try station.run(["send"], input: Array("null\0here\n".utf8))
        #expect(sent.status == 0)
        let json = try station.run(["query", "-g", "here", "-o", "json"])
        #expect(json.output.contains(#""message":"null\u0000here""#))
        let short = try station.run(["query", "-g", "here"])
        #expect(short.status == 0 && !short.output.utf8.contains(0))
        #expect(
            short.output.contains(#"null\x00here"#) || short.output.contains(#"null\u0000here"#)
        )
    }

    @Test("case 36: a newline in a field forges no record")
    func newline() throws {
        let station = try Station()
        try station.startAgent()
        let forged = #"{"message":"ok\n2030-01-01T00:00:00Z host fake[1]: forged"}"#
        let sent = try station.run(["send"], input: Array((forged + "\n").utf8))
        #expect(sent.status == 0)
        for format in ["json", "short"] {
            let outcome = try station.run(["query", "-g", "forged", "-o", format])
            #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
        }
        #expect(try station.exported().map(\.payload) == [forged])
    }

    @Test("case 41: an empty message, spaces and no fields are records like any other")
    func empty() throws {
        let station = try Station()
        try station.startAgent()
        let sent = try station.run(["send", "--as", "e"], input: Array("\n   \n{}\nnormal\n".utf8))
        #expect(sent.status == 0)
        let records = try station.exported()
        #expect(records.map(\.sequence) == [1, 2, 3, 4])
        #expect(
            records.map(\.payload) == [
                #"{"message":""}"#, #"{"message":"   "}"#, "{}", #"{"message":"normal"}"#,
            ]
        )
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test(
        "case 27: records of one peer keep their order, -r is the exact reverse, also after restart"
    )
    func order() throws {
        let station = try Station()
        try station.startAgent()
        let input = (1...1000).map { "\($0)\n" }.joined()
        #expect(try station.run(["send", "--as", "o"], input: Array(input.utf8)).status == 0)
        for _ in 0..<2 {
            let forward = try station.run(["query", "--peer", "o", "-o", "cat"])
            #expect(forward.output == input)
            let reverse = try station.run(["query", "--peer", "o", "-r", "-o", "cat"])
            #expect(reverse.output == (1...1000).reversed().map { "\($0)\n" }.joined())
            #expect(station.signalAgent(15) == 0)
            try station.startAgent()
        }
    }

    @Test("large lines that fill the queue make send wait, and none is dropped")
    func fullQueue() throws {
        let station = try Station()
        try station.startAgent()
        let count = 600
        let filler = String(repeating: "large ", count: 12_000)
        let input = (1...count).map { "\($0) \(filler)\n" }.joined()
        let sent = try station.run(["send", "--as", "large"], input: Array(input.utf8))
        #expect(sent.status == 0, "\(sent.error)")
        let counted = try station.run(["query", "--peer", "large", "--count"])
        #expect(counted.output == "\(count)\n")
        #expect(try station.run(["losses"]).status == 0)
    }

    @Test("without an agent send says so, with a hint, and fails")
    func nobodyCollects() throws {
        let station = try Station()
        let outcome = try station.run(["send", "--timeout", "500ms"], input: Array("x\n".utf8))
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("is 'intel agent' running?"), "\(outcome.error)")
    }
}
