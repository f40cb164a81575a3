import Basics
import Spool
import Telemetry
import Testing

@Suite struct RoundTripTests {
    @Test func everyFieldComesBack() throws {
        let fixture = try Fixture()
        var dice = Dice(state: 7)
        var written: [Record] = []
        for index in 0..<500 {
            let number = UInt64.random(in: .min ... .max, using: &dice)
            written.append(
                Record(
                    instance: PeerInstance(identifier: "peer.\(index % 5)", epoch: number % 3),
                    pid: 0,
                    uid: 0,
                    kind: "kind.\(index % 7)",
                    envelope: Envelope(
                        sequence: number,
                        level: Level.allCases[index % 8],
                        time: Int64.random(in: .min ... .max, using: &dice),
                        boot: UInt64.random(in: .min ... .max, using: &dice),
                        received: Int64.random(in: .min ... .max, using: &dice),
                        order: Int64(index)
                    ),
                    store: UInt64(index + 1),
                    payload: Array("{\"n\":\(number)}".utf8)
                )
            )
        }
        var writer = try fixture.writer()
        #expect(writer.nextStore == 1)
        let first = try writer.commit(SpoolCommit(records: .init(Array(written[..<300]))))
        let second = try writer.commit(SpoolCommit(records: .init(Array(written[300...]))))
        #expect(first == 1...300)
        #expect(second == 301...500)
        #expect(try writer.commit(SpoolCommit()) == nil)
        #expect(try fixture.records() == written)
    }

    @Test(arguments: [#""""#, "null", "1.0", #"{"a":1,"a":1.00}"#, #""\u0000""#])
    func payloadIsKeptByteForByte(payload: String) throws {
        let fixture = try Fixture()
        try fixture.store([[record(1, at: 5, payload: payload)]])
        #expect(try fixture.records().map(\.payload) == [Array(payload.utf8)])
    }

    @Test func largePayloadsAndManyRecordsAreCutIntoBatches() throws {
        let fixture = try Fixture()
        let large = "\"" + String(repeating: "x", count: 1 << 20) + "\""
        var batch = (1...3).map { record($0, at: Int64($0), payload: large) }
        batch += (4...70_003).map { record($0, at: Int64($0), payload: "1") }
        try fixture.store([batch])
        let found = try fixture.records()
        #expect(found.count == batch.count)
        #expect(found.map(\.envelope) == batch.map(\.envelope))
        #expect(found[0].payload == batch[0].payload)
        let reader = try SpoolReader(directory: fixture.directory)
        let summary = try reader.summary()
        #expect(summary.batches == 5)
        #expect(summary.records == 70_003)
        #expect(summary.lastStore == 70_003)
        #expect(summary.oldestTime == 1)
        #expect(summary.newestTime == 70_003)
        #expect(summary.fileBytes > 0)
    }

    @Test func booksComeBack() throws {
        let fixture = try Fixture()
        let instance = PeerInstance(identifier: "com.test.pos", epoch: .max)
        var state = PeerState(instance: instance)
        state.fingerprint = 0xfedc_ba98
        state.apikey = "key"
        state.pid = 812
        state.uid = 1000
        state.presence = .died
        state.appeared = -5
        state.changed = 6
        state.lastSeen = 7
        state.sent = 1_000
        state.stored = 900
        state.collapsed = 10
        state.dropped = 20
        state.accounted.insert(1...400)
        state.accounted.insert(471...1_000)
        state.holes = [Hole(sequences: 401...470, times: -10...20)]
        state.lastOrder = 99
        let loss = Loss(
            instance: instance,
            sequences: 401...420,
            reason: "sender queue full",
            times: 1...2
        )
        var other = PeerState(instance: PeerInstance(identifier: "empty", epoch: 0))
        var sent = record(1, at: 4, peer: "com.test.pos", epoch: .max)
        var writer = try fixture.writer()
        _ = try writer.commit(
            SpoolCommit(records: .init([sent]), peers: [state, other], losses: [loss])
        )
        other.presence = .left
        _ = try writer.commit(SpoolCommit(peers: [other]))
        let reader = try SpoolReader(directory: fixture.directory)
        #expect(try reader.peers() == [state, other])
        #expect(try reader.peer(instance) == state)
        #expect(try reader.peer(PeerInstance(identifier: "nobody", epoch: 1)) == nil)
        #expect(try reader.losses() == [loss])
        (sent.pid, sent.uid, sent.store) = (812, 1000, 1)
        #expect(try fixture.records() == [sent])
    }

    @Test func writerGoesOnWhereTheLastOneStopped() throws {
        let fixture = try Fixture()
        try fixture.store([[record(1, at: 1), record(2, at: 2)]])
        var writer = try fixture.writer()
        #expect(writer.nextStore == 3)
        #expect(try writer.commit(SpoolCommit(records: .init([record(3, at: 3)]))) == 3...3)
        #expect(try SpoolReader(directory: fixture.directory).peers().count == 1)
        #expect(try fixture.records().map(\.store) == [1, 2, 3])
    }
}
