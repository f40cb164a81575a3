import Spool
import Telemetry
import Testing

@Suite struct QueryTests {
    /// 1,200 records of three peers, four kinds and all levels, in twelve batches.
    private func filled() throws -> (Fixture, [Record]) {
        let fixture = try Fixture()
        let peers = ["com.a.pos", "com.b.pos", "org.c"]
        let kinds = ["order.created", "order.paid", "log", "metric"]
        let all: [Record] = (0..<1_200).map { (index: Int) -> Record in
            record(
                UInt64(index + 1),
                at: Int64(index * 10),
                peer: peers[index % 3],
                kind: kinds[index / 5 % 4],
                level: Level.allCases[index % 8],
                payload: #"{"message":"Item \#(index) of Ten"}"#
            )
        }
        try fixture.store(stride(from: 0, to: 1_200, by: 100).map { Array(all[$0..<$0 + 100]) })
        return (fixture, all)
    }

    private func check(
        _ query: Query,
        _ fixture: Fixture,
        _ all: [Record],
        where isWanted: (Record) -> Bool
    ) throws {
        var query = query
        let expected = all.filter(isWanted).map(\.id)
        #expect(!expected.isEmpty)
        #expect(try fixture.records(query).map(\.id) == expected)
        var reader = try SpoolReader(directory: fixture.directory)
        #expect(try reader.count(query).0 == UInt64(expected.count))
        query.reverse = true
        #expect(try fixture.records(query).map(\.id) == Array(expected.reversed()))
        query.last = 5
        #expect(try fixture.records(query).map(\.id) == Array(expected.suffix(5).reversed()))
        query.reverse = false
        #expect(try fixture.records(query).map(\.id) == Array(expected.suffix(5)))
        #expect(try reader.count(query).0 == UInt64(min(5, expected.count)))
    }

    @Test func filtersCombine() throws {
        let (fixture, all) = try filled()
        try check(Query(), fixture, all) { _ in true }
        try check(Query(since: 1_505, until: 9_000), fixture, all) {
            (1_505...9_000).contains($0.envelope.time)
        }
        try check(Query(peers: [Glob("com.*")]), fixture, all) {
            $0.instance.identifier != "org.c"
        }
        try check(Query(kinds: [Glob("log"), Glob("order.p*")], levels: 0...3), fixture, all) {
            ($0.kind == "log" || $0.kind == "order.paid") && $0.envelope.level <= .error
        }
        try check(Query(text: TextPattern("item 11")), fixture, all) {
            String(decoding: $0.payload, as: UTF8.self).contains("Item 11")
        }
        let mixed = Query(
            since: 100,
            until: 11_000,
            peers: [Glob("com.b.pos")],
            kinds: [Glob("order.*")],
            levels: 0...6,
            text: TextPattern("Ten")
        )
        try check(mixed, fixture, all) {
            (100...11_000).contains($0.envelope.time) && $0.instance.identifier == "com.b.pos"
                && $0.kind.hasPrefix("order.") && $0.envelope.level <= .info
        }
    }

    @Test func nothingMatches() throws {
        let (fixture, _) = try filled()
        #expect(try fixture.records(Query(peers: [Glob("nobody")])) == [])
        #expect(try fixture.records(Query(since: 1 << 40)) == [])
        #expect(try fixture.records(Query(text: TextPattern("Item 11X"), last: 3)) == [])
        #expect(try fixture.records(Query(text: TextPattern("ITEM"))) == [])
        var reader = try SpoolReader(directory: fixture.directory)
        #expect(try reader.count(Query(kinds: [Glob("?")])).0 == 0)
    }

    @Test func textFindsWhatEscapesSay() throws {
        let fixture = try Fixture()
        let payloads = [
            #"{"m":"null\u0000here"}"#, #"{"m":"caf\u00e9"}"#, #"{"m":"say \"Hi\""}"#,
            #"{"m":"a\/b"}"#, #"{"m":"plain"}"#, #""""#,
        ]
        try fixture.store([
            payloads.enumerated().map { index, payload in
                record(UInt64(index + 1), at: Int64(index), payload: payload)
            }
        ])
        func found(_ text: String) throws -> [UInt64] {
            try fixture.records(Query(text: TextPattern(text))).map(\.envelope.sequence)
        }
        #expect(try found("here") == [1])
        #expect(try found("null\u{0}here") == [1])
        #expect(try found(#"null\u0000"#) == [1])
        #expect(try found("café") == [2])
        #expect(try found(#"say "hi""#) == [3])
        #expect(try found(#"say "HI""#) == [])
        #expect(try found("a/b") == [4])
        #expect(try found("PLAIN") == [])
        #expect(try found("") == [1, 2, 3, 4, 5, 6])
        // A hit across two payloads is none.
        #expect(try found(#""}{""#) == [])
        #expect(try found(#""}"#) == [1, 2, 3, 4, 5])
    }

    @Test func followIsInOrderOfCommits() throws {
        let fixture = try Fixture()
        var writer = try fixture.writer()
        var reader = try SpoolReader(directory: fixture.directory)
        func follow(_ after: UInt64, _ query: Query = Query()) throws -> ([UInt64], UInt64) {
            var seen: [UInt64] = []
            let last = try reader.follow(after: after, query) { view in
                seen.append(view.store)
                return seen.count < 5
            }
            return (seen, last)
        }
        #expect(try follow(0) == ([], 0))
        _ = try writer.commit(SpoolCommit(records: .init([record(1, at: 9), record(2, at: 3)])))
        #expect(try follow(0) == ([1, 2], 2))
        #expect(try follow(2) == ([], 2))
        _ = try writer.commit(SpoolCommit(records: .init([record(1, at: 1, peer: "late")])))
        _ = try writer.commit(SpoolCommit(records: .init([record(3, at: 10)])))
        #expect(try follow(1) == ([2, 3, 4], 4))
        #expect(try follow(2, Query(peers: [Glob("late")])) == ([3], 4))
        #expect(try follow(2, Query(kinds: [Glob("none")])) == ([], 4))
        _ = try writer.commit(SpoolCommit(records: .init((4...9).map { record($0, at: 11) })))
        #expect(try follow(4) == ([5, 6, 7, 8, 9], 9))
        #expect(try follow(9) == ([10], 10))
    }
}
