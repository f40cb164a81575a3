import Telemetry
import Testing

@testable import Spool

/// What goes into a cold batch comes out of it, byte for byte.
@Suite struct ColumnRoundTripTests {
    private func check(_ sample: ColumnSample, _ note: String) throws {
        let decoder = try sample.open()
        let back = try decoder.allPayloads()
        #expect(back == sample.payloads, "\(note)")
        let numbers = try decoder.envelopes()
        #expect(numbers.map(\.envelope) == sample.records.map(\.envelope), "\(note)")
        #expect(numbers.map(\.store) == sample.records.map(\.store))
        #expect(numbers.map(\.instance) == sample.records.map(\.instance))
        #expect(numbers.map(\.stream) == sample.records.map(\.stream))
    }

    @Test("trap 14: random JSON of every sort, in batches of every size", arguments: 0..<60)
    func random(seed: Int) throws {
        var json = RandomJSON(random: SeededGenerator(state: UInt64(seed)))
        let count = [1, 2, 3, 17, 300, 1000][seed % 6]
        // Even seeds: few different records, so that shapes, dictionaries and patterns are made.
        let pool = (0..<12).map { _ in json.value(3) }
        let texts = (0..<count).map { index -> String in
            if seed % 2 == 0, index % 5 != 0 {
                return pool[index % pool.count]
            }
            return json.space() + json.value(seed % 4) + json.space()
        }
        try check(ColumnSample(texts), "seed \(seed)")
    }

    @Test("records of one shape whose values are of every sort", arguments: 0..<40)
    func oneShape(seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) &* 77)
        let values = RandomJSON.scalars.filter { !$0.hasPrefix("{") && !$0.hasPrefix("[") }
        let texts = (0..<200).map { index in
            let few = values[(seed + index % 3) % values.count]
            let any = values[Int.random(in: 0..<values.count, using: &random)]
            let number = Int64.random(in: -9...9, using: &random) + Int64(index * seed)
            return "{\"a\":\(few),\"b\":\(any),\"n\":\(number),\"t\":\"x \(index * 13)\"}"
        }
        try check(ColumnSample(texts), "seed \(seed)")
    }

    @Test("texts that are no JSON, or empty, are kept as they are")
    func notJSON() throws {
        let odd = [
            "", "\"", "{", "\u{1}\u{0}", "{\"a\":\"b", "nonsense !", "\"a\\", "[1,,2]", "\n",
        ]
        try check(ColumnSample(odd + Array(repeating: "{\"a\":1}", count: 50)), "odd")
        for text in odd { try check(ColumnSample([text]), text) }
    }

    @Test("trap 14: integers at the edges, in every order of differences")
    func edges() throws {
        let edges: [Int64] = [
            999_999_999_999_999_999, -999_999_999_999_999_999, 0, 1, -1, 1 << 53,
        ]
        var texts: [String] = []
        for index in 0..<120 {
            texts.append(
                "{\"a\":\(edges[index % 6]),\"b\":\(index * index * 1000),\"c\":\(5 - index)}"
            )
        }
        try check(ColumnSample(texts), "edges")
        var sample = ColumnSample(texts)
        for index in sample.records.indices {
            let wild: [Int64] = [.min, .max, 0, -1]
            sample.records[index].envelope.time = wild[index % 4]
            sample.records[index].envelope.order = wild[(index + 1) % 4]
            sample.records[index].envelope.received = wild[(index / 3) % 4]
            sample.records[index].envelope.boot = .max
            sample.records[index].store = .max - UInt64(index)
        }
        try check(sample, "wild clocks")
    }

    @Test("huge strings, deep nesting, and more values than there are columns")
    func large() throws {
        let huge = "{\"s\":\"" + String(repeating: "abc 123 ", count: 100_000) + "\"}"
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let nested =
            String(repeating: "{\"k\":", count: 500) + "7" + String(repeating: "}", count: 500)
        let wide =
            "{" + (0..<20_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + ",\"z\":\"\"}"
        try check(ColumnSample([huge, huge, deep, deep, nested, nested]), "deep")
        try check(ColumnSample([wide, wide, wide]), "wide")
        try check(
            ColumnSample([String(repeating: "7", count: 5 << 20)]),
            "above the columns' limit"
        )
    }

    @Test("payloads that are no objects")
    func scalars() throws {
        try check(ColumnSample((0..<300).map { "\($0 * 17)" }), "integers")
        try check(ColumnSample((0..<300).map { "\"host-\($0 % 9)\"" }), "strings")
        try check(ColumnSample((0..<300).map { "[\($0),[true,\"\($0)\"]]" }), "arrays")
        let decoder = try ColumnSample((0..<300).map { "\($0 * 17)" }).open()
        #expect(decoder.isColumnar)
        #expect(try decoder.integers(at: "").map(\.value) == (0..<300).map { $0 * 17 })
    }

    @Test("some records, without the others")
    func some() throws {
        var json = RandomJSON(random: SeededGenerator(state: 5))
        let pool = (0..<30).map { _ in json.value(3) }
        let sample = ColumnSample((0..<400).map { pool[($0 * 7) % 30] })
        let decoder = try sample.open()
        for wanted: [Int32] in [[], [0], [399], [3, 5, 6, 200], Array(0..<400)] {
            let found = try decoder.payloads(of: wanted).split()
            #expect(found == wanted.map { sample.payloads[Int($0)] })
        }
        #expect(throws: DamagedBatch.self) { try decoder.payloads(of: [400]) }
        #expect(throws: DamagedBatch.self) { try decoder.payloads(of: [5, 5]) }
    }

    @Test("columns are smaller than rows where records are alike, rows are taken where not")
    func layouts() throws {
        var random = SeededGenerator(state: 9)
        let alike = ColumnSample(
            (0..<500).map { "{\"host\":\"web-\($0 % 4)\",\"ms\":\($0 * 3 % 50),\"ok\":true}" }
        )
        #expect(try alike.open().isColumnar)
        #expect(try alike.encode().count < 1200)
        let noise = ColumnSample(
            (0..<20).map { index in
                let digits = (0..<30).map { _ in String(random.next(), radix: 36) }
                return "{\"k\(index)\":\"\(digits.joined())\"}"
            }
        )
        #expect(try !noise.open().isColumnar)
        try check(noise, "noise")
    }
}
