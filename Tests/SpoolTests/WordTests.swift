import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

/// Whole words: what is found, and that the filter only leaves out what has none.
@Suite struct WordTests {
    private static let payloads = [
        #"{"m":"problem solved today"}"#, #"{"m":"unsolved"}"#, #"{"m":"Solved."}"#,
        #"{"m":"it_solved"}"#, #"{"m":"solved2"}"#, #"{"m":"a\nsolved\tb"}"#,
        #"{"m":"solv\u0065d"}"#,
        #"{"m":"gelöst solvedö"}"#, #"{"solved":1}"#, #""solved""#, #"{"m":"disk solved,disk"}"#,
        #"{"m":"on disk, failed"}"#, "solved", #"{"m":"resolved"}"#, #"{"m":"x\u0073olved"}"#,
        #"{"m":"C:\\users\\solved"}"#, #"{"m":"\\\u0073olved"}"#, #"{"m":"\\u0073olved"}"#,
    ]

    private func spool() throws -> Fixture {
        let fixture = try Fixture()
        try fixture.store([
            Self.payloads.enumerated().map {
                record(UInt64($0.offset + 1), at: Int64($0.offset), payload: $0.element)
            }
        ])
        return fixture
    }

    @Test(
        "a word is found where it stands alone, in strings as they are sent and as they say",
        arguments: [
            ("solved", [1, 3, 6, 7, 9, 10, 11, 13, 16, 17]), ("Solved", [3]), ("disk", [11, 12]),
            ("solved,disk", [11]), ("disk, failed", [12]), ("isk", []), ("nsolved", [6]),
            ("solvedö", [8]), ("it_solved", [4]), ("solved2", [5]), ("fail", []), ("users", [16]),
        ] as [(String, [UInt64])]
    )
    func found(word: String, expected: [UInt64]) throws {
        let fixture = try spool()
        let query = Query(text: TextPattern(word, isWord: true))
        #expect(try fixture.records(query).map(\.envelope.sequence) == expected)
        // In SQL: as part of a plan, and beside an OR, where SQLite asks for each row.
        let wanted = "SELECT seq FROM records WHERE word MATCH '\(word)'"
        for statement in [wanted, wanted + " OR peer || kind = 'none'"] {
            let rows = try fixture.sql(statement).compactMap(\.first?.integer)
            #expect(rows.sorted() == expected.map(Int64.init), "\(statement)")
        }
        try fixture.compact()
        #expect(try fixture.records(query).map(\.envelope.sequence) == expected)
        #expect(try fixture.sql(wanted).compactMap(\.first?.integer) == expected.map(Int64.init))
    }

    @Test("batches without the word stay packed, those with part of it too; substrings are found")
    func pruned() throws {
        let fixture = try Fixture()
        let words = ["apple", "banana", "cherry", "durian"]
        let text = String(repeating: "filling of some length ", count: 40)
        // Streams large enough for a batch each.
        for (index, word) in words.enumerated() {
            try fixture.store([
                (1...60).map {
                    let mark = $0 == 30 ? "x\(word)y \(word)" : ""
                    return record(
                        UInt64($0),
                        at: Int64($0),
                        peer: word,
                        payload:
                            "{\"m\":\"\(text)\(mark) \(index)\"}"
                    )
                }
            ])
        }
        try fixture.compact()
        func opened(_ text: TextPattern) throws -> (Int, UInt64) {
            var reader = try SpoolReader(directory: fixture.directory)
            let found = try reader.records(Query(text: text)).count
            return (found, reader.openedBatches)
        }
        #expect(try opened(TextPattern("cherry", isWord: true)) == (1, 1))
        #expect(try opened(TextPattern("xcherryy", isWord: true)) == (1, 1))
        #expect(try opened(TextPattern("cherr", isWord: true)) == (0, 0))
        #expect(try opened(TextPattern("cherr")) == (1, 4))
    }

    @Test("random words of random payloads are never missed", arguments: 0..<10)
    func complete(seed: UInt64) throws {
        var json = RandomJSON(random: SeededGenerator(state: seed + 50))
        let pool = (0..<20).map { _ in json.value(3) }
        let sample = ColumnSample((0..<240).map { $0 % 3 == 0 ? json.value(3) : pool[$0 % 20] })
        var plain = WordFilter()
        for payload in sample.payloads { payload.withUnsafeBytes { plain.add($0) } }
        // As compaction makes it: from what columns have of texts.
        var encoder = try ColumnBatchEncoder()
        let quick = try sample.bytes.withUnsafeBytes { bytes in
            _ = try encoder.encode(sample.records[...], payloads: bytes)
            return WordFilter(encoder, sample.records, bytes)
        }
        let filters = try [plain, quick].map { try #require(WordFilter.bits($0.encode())) }
        for _ in 0..<200 {
            let payload = sample.payloads.randomElement(using: &json.random) ?? []
            guard !payload.isEmpty else { continue }
            let start = Int.random(in: 0..<payload.count, using: &json.random)
            let end = min(payload.count, start + Int.random(in: 3...9, using: &json.random))
            let text = String(decoding: payload[start..<end], as: UTF8.self)
            let pattern = TextPattern(text, isWord: true)
            let hits = sample.bytes.withUnsafeBytes {
                pattern.search($0, ends: sample.records.map(\.payload.upperBound))
            }
            guard hits.contains(true) else { continue }
            for word in pattern.wholeWords {
                #expect(filters.allSatisfy { WordFilter.mayHold(word, $0) }, "\(text)")
            }
        }
    }
}

extension WordTests {
    @Test("trap 8: a word filter that was changed hides no word, and a verification names it")
    func damagedFilter() throws {
        let fixture = try spool()
        try fixture.compact()
        let name = try #require(fixture.segmentNames.first)
        let query = Query(text: TextPattern("solved", isWord: true))
        let expected: [UInt64] = [1, 3, 6, 7, 9, 10, 11, 13, 16, 17]
        for change in [
            // All bits gone, with and without the old checksum behind them.
            "bloom = cast(zeroblob(length(bloom) - 4) || substr(bloom, -4) AS BLOB)",
            "bloom = zeroblob(length(bloom))", "bloom = x''", "bloom = x'0102'",
        ] {
            try Database(path: fixture.directory + "/seg/" + name, mode: .write)
                .execute("UPDATE words SET \(change)")
            #expect(try fixture.records(query).map(\.envelope.sequence) == expected, "\(change)")
            let found = try Verifier(directory: fixture.directory).run()
            #expect(found.damages.map(\.cause) == ["its word filter is damaged"], "\(change)")
            #expect(found.damagedRecords == 0 && found.records == UInt64(Self.payloads.count))
        }
    }

    @Test("the filter of docs/spool-format.md is what is written")
    func golden() throws {
        var filter = WordFilter()
        Array(#"{"m":"disk failed"}"#.utf8).withUnsafeBytes { filter.add($0) }
        let hex = filter.encode().map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        let root = String(#filePath.dropLast("Tests/SpoolTests/WordTests.swift".count))
        let page = try Files.contents(root + "docs/spool-format.md")
        #expect(String(decoding: page, as: UTF8.self).contains("is `\(hex)`"), "\(hex)")
        for bit in 0..<8 * filter.encode().count {
            var changed = filter.encode()
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(WordFilter.bits(changed) == nil)
        }
    }
}
