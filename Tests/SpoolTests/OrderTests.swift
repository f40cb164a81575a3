import Spool
import Telemetry
import Testing

@Suite struct OrderTests {
    @Test func equalTimesAreOrderedByPeerEpochAndSequence() throws {
        let fixture = try Fixture()
        var all: [Record] = []
        for peer in ["b", "a", "c"] {
            for epoch in [2, 1] as [UInt64] {
                for sequence in 1...200 as ClosedRange<UInt64> {
                    all.append(record(sequence, at: 1_000, peer: peer, epoch: epoch))
                }
            }
        }
        var dice = Dice(state: 1)
        all.shuffle(using: &dice)
        try fixture.store(
            stride(from: 0, to: all.count, by: 90).map { Array(all[$0...].prefix(90)) }
        )
        let sorted = all.sorted {
            ($0.instance.identifier, $0.instance.epoch, $0.envelope.sequence)
                < ($1.instance.identifier, $1.instance.epoch, $1.envelope.sequence)
        }
        let forward = try fixture.records()
        #expect(forward.map(\.id) == sorted.map(\.id))
        #expect(try fixture.records(Query(reverse: true)) == Array(forward.reversed()))
        #expect(try fixture.records(Query(last: 7)) == Array(forward.suffix(7)))
        #expect(
            try fixture.records(Query(last: 7, reverse: true))
                == Array(forward.suffix(7).reversed())
        )
    }

    @Test func overlappingBatchesMerge() throws {
        let fixture = try Fixture()
        var dice = Dice(state: 3)
        var batches: [[Record]] = []
        var sequence: UInt64 = 0
        for _ in 0..<40 {
            let base = Int64.random(in: 0..<1_000, using: &dice)
            batches.append(
                (0..<50).map { _ in
                    sequence += 1
                    return record(sequence, at: base + Int64.random(in: 0..<300, using: &dice))
                }
            )
        }
        try fixture.store(batches)
        let sorted = batches.joined().sorted {
            ($0.envelope.order, $0.envelope.sequence) < ($1.envelope.order, $1.envelope.sequence)
        }
        let forward = try fixture.records()
        #expect(forward.map(\.id) == sorted.map(\.id))
        #expect(try fixture.records(Query(reverse: true)) == Array(forward.reversed()))
        for last in [1, 3, 50, 1_999, 2_000, 5_000] {
            #expect(try fixture.records(Query(last: last)) == Array(forward.suffix(last)))
        }
        #expect(try fixture.records(Query(last: 0)) == [])
    }

    @Test func orderRulesNotTime() throws {
        let fixture = try Fixture()
        // The sender's clock stepped back: its order was kept by the one who wrote.
        let stepped = [
            record(1, at: 100), record(2, at: 50, order: 100), record(3, at: 60, order: 100),
            record(4, at: 120),
        ]
        try fixture.store([stepped])
        #expect(try fixture.records().map(\.envelope.sequence) == [1, 2, 3, 4])
        let some = try fixture.records(Query(since: 55, until: 100))
        #expect(some.map(\.envelope.sequence) == [1, 3])
    }

    @Test func bodyCanStop() throws {
        let fixture = try Fixture()
        try fixture.store([(1...10).map { record($0, at: Int64($0)) }])
        var reader = try SpoolReader(directory: fixture.directory)
        var seen = 0
        _ = try reader.forEach(Query()) { _ in
            seen += 1
            return seen < 4
        }
        #expect(seen == 4)
    }

    /// More unpacked bytes than a merge may hold, all of them overlapping: the waiting ones rest.
    @Test func manyOverlappingBatchesStayInOrder() throws {
        let fixture = try Fixture()
        let text = "\"" + String(repeating: "x", count: (1 << 20) - 100) + "\""
        var batches: [[Record]] = []
        for batch in 0..<80 as Range<UInt64> {
            batches.append([
                record(2 * batch + 1, at: Int64(batch), payload: text),
                record(2 * batch + 2, at: Int64(1_000 + batch), payload: text),
            ])
        }
        // Just below where a batch is cut: each holds one large record and two small ones.
        batches = batches.map { pair in pair.map { small($0) } + pair.prefix(1) }
        try fixture.store(batches)
        var reader = try SpoolReader(directory: fixture.directory)
        var orders: [Int64] = []
        var bytes = 0
        _ = try reader.forEach(Query()) { view in
            orders.append(view.envelope.order)
            bytes += view.payload.count
            return true
        }
        #expect(orders == orders.sorted())
        #expect(orders.count == 240)
        #expect(bytes == 80 * text.utf8.count + 160)
        let forward = orders
        orders = []
        _ = try reader.forEach(Query(reverse: true)) { view in
            orders.append(view.envelope.order)
            return true
        }
        #expect(orders == Array(forward.reversed()))
    }

    private func small(_ record: Record) -> Record {
        var copy = record
        copy.payload = [0x31]
        copy.instance.epoch = 2
        return copy
    }
}
