import Telemetry
import Testing

@testable import Spool

/// Searching columns finds what searching the payloads finds; columns read what payloads say.
@Suite struct ColumnSearchTests {
    private static let texts: [String] = (0..<240).map { index in
        let user = ["admin", "root", "Gräfin", "a\\u0062c", "x/y", "say \\\"hi\\\""][index % 6]
        switch index % 5 {
        case 0: return "{\"user\":\"\(user)\",\"ok\":\(index % 2 == 0),\"n\":\(index * 7)}"
        case 1: return "{ \"user\" : \"\(user)\", \"ip\" : \"10.47.2.\(index)\" , \"e\" : null }"
        case 2: return "[\(index),1.5,true, \"\(user) from 10.0.0.\(index % 7) port 22\"]"
        case 3: return "\"\(user) \(index)\""
        default: return "{\"msg\":\"Failed password for \(user)\",\"f\":\(index).25,\"x\":1e5}"
        }
    }

    @Test(
        "the same records as in the payloads themselves",
        arguments: [
            "", "admin", "Admin", "ADMIN", "user", "Failed password", "password for root", "47",
            "10.47.2.1", "from 10", "true", "null", "null }", "true, ", "\"user\":", ": \"", "e",
            "E", "-", ".", "1e5", ".25", "a\\u0062c", "abc", "x/y", "say \"hi\"", "\\\"", "gräfin",
            "Gräfin", "ü", "for", "r\",", "}", "[5", "absent", "port 2", "t 22", " ", "user\"",
            "\n",
            "0", "rom", "d for x", "1.5,t", "msg", "\u{1}", "\u{2}", "\u{0}",
        ]
    )
    func same(text: String) throws {
        let sample = ColumnSample(Self.texts)
        let decoder = try sample.open()
        #expect(decoder.isColumnar)
        let pattern = TextPattern(text)
        let wanted = sample.bytes.withUnsafeBytes {
            pattern.search($0, ends: sample.records.map(\.payload.upperBound))
        }
        #expect(try decoder.search(pattern) == ColumnBatchDecoder.indexes(wanted))
    }

    @Test("random patterns cut out of random payloads", arguments: 0..<20)
    func random(seed: Int) throws {
        var json = RandomJSON(random: SeededGenerator(state: UInt64(seed) + 1000))
        let pool = (0..<20).map { _ in json.value(3) }
        let sample = ColumnSample((0..<200).map { $0 % 4 == 0 ? json.value(2) : pool[$0 % 20] })
        let decoder = try sample.open()
        for _ in 0..<150 {
            let payload = sample.payloads.randomElement(using: &json.random) ?? []
            guard !payload.isEmpty else { continue }
            let start = Int.random(in: 0..<payload.count, using: &json.random)
            let end = min(payload.count, start + Int.random(in: 1...9, using: &json.random))
            let pattern = TextPattern(String(decoding: payload[start..<end], as: UTF8.self))
            let wanted = sample.bytes.withUnsafeBytes {
                pattern.search($0, ends: sample.records.map(\.payload.upperBound))
            }
            let found = try decoder.search(pattern)
            #expect(found == ColumnBatchDecoder.indexes(wanted), "seed \(seed): \(pattern.text)")
        }
    }

    @Test("one column by its path, and what the directory says of it")
    func columns() throws {
        let sample = ColumnSample(
            (0..<200).map { index in
                let more = index % 2 == 0 ? ",\"list\":[\(index),\"x\"]" : ""
                return
                    "{\"n\":\(1000 + index * 3),\"u\":\"u\(index % 5)\",\"a/b\":{\"c\":7}\(more)}"
            }
        )
        let decoder = try sample.open()
        let directory = try decoder.directory()
        #expect(directory.map(\.path) == ["/n", "/u", "/a~1b/c", "/list/0", "/list/1"])
        #expect(directory[0].bounds == 1000...1597)
        #expect(directory[0].form == .integers)
        #expect(directory[1].form == .dictionary(5))
        #expect(directory[2].form == .constant)
        #expect(directory[2].bounds == 7...7)
        #expect(directory[3].count == 100)
        let numbers = try decoder.integers(at: "/n", within: 1006...1012)
        #expect(numbers.map(\.record) == [2, 3, 4])
        #expect(numbers.map(\.value) == [1006, 1009, 1012])
        #expect(try decoder.integers(at: "/n", within: 0...999).isEmpty)
        #expect(try decoder.integers(at: "/list/0").map(\.record) == (0..<100).map { $0 * 2 })
        let users = try decoder.texts(at: "/u", isString: true, equal: Array("u3".utf8))
        #expect(users.map(\.record) == (0..<40).map { Int32($0 * 5 + 3) })
        #expect(try decoder.texts(at: "/u", isString: true, equal: Array("v".utf8)).isEmpty)
        #expect(try decoder.texts(at: "/u", isString: false).isEmpty)
        #expect(try decoder.recordsWithoutColumns().isEmpty)
    }
}
