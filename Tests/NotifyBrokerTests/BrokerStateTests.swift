import Basics
import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// The broker's decisions without a socket: frames in, answers and events out.
@Suite struct BrokerStateTests {
    @Test func postsMergeAndTheLatestStateIsTold() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect(pid: 2))
        #expect(bench.apply([.register(1, "a")], from: one) == [0])
        #expect(bench.apply([.register(1, "a", delivers: false)], from: two) == [0])
        for value in 1...5 as ClosedRange<UInt64> {
            #expect(bench.apply([.setAndPost(token: 1, state: value)], from: two) == [0])
        }
        let events = bench.events(one)
        #expect(events.count == 1)
        #expect(events.first?.merged == 5 && events.first?.state == 5 && events.first?.post == 5)
        #expect(events.first?.pid == 2 && events.first?.connection == two)
        #expect(bench.events(two).isEmpty && bench.state.figures.merged == 4)
    }

    @Test func aNameLivesAsLongAsARegistration() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        _ = bench.apply([.register(1, "a"), .set(token: 1, state: 7)], from: one)
        _ = bench.apply([.register(1, "a")], from: two)
        bench.state.disconnect(one, now: 0)
        #expect(bench.state.figures.names == 1)
        _ = bench.apply([.cancel(token: 1)], from: two)
        #expect(bench.state.figures.names == 0)
        #expect(bench.memory.bytes.allSatisfy { $0 == 0 })
    }

    @Test func slotsAreReusedAndNeverShared() {
        let bench = Bench()
        let one = bench.connect()
        for round in 0..<5 {
            for token in 1..<64 as Range<UInt32> {
                #expect(bench.apply([.register(token, "n\(round).\(token)")], from: one) == [0])
            }
            #expect(bench.apply([.register(64, "one too many")], from: one) == [1_000_000])
            for token in 1..<64 as Range<UInt32> {
                #expect(bench.apply([.cancel(token: token)], from: one) == [0])
            }
        }
    }

    @Test func aLingeringClaimHoldsItsNameAndPoolUntilItsTime() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        #expect(bench.apply([.claim(1, "c", linger: 10, pool: 4096)], from: one) == [0])
        bench.state.disconnect(one, now: 1_000_000_000)
        #expect(bench.apply([.claim(1, "c")], from: two) == [7])
        #expect(bench.state.tick(now: 2_000_000_000) == 11_000_000_000)
        #expect(bench.state.tick(now: 11_000_000_000) == nil)
        #expect(bench.apply([.claim(1, "c", pool: 4096)], from: two) == [0])
        #expect(bench.state.figures.names == 1)
    }

    @Test func aWillSaysWhetherTheClaimerLeftOrDied() {
        for leaves in [true, false] {
            let bench = Bench()
            let (one, two) = (bench.connect(), bench.connect())
            _ = bench.apply([.register(1, "w")], from: two)
            _ = bench.apply([.claim(1, "w")] + (leaves ? [.goodbye] : []), from: one)
            bench.state.disconnect(one, now: 0)
            let event = bench.events(two).first
            #expect(event?.cause == (leaves ? .left : .died) && event?.state == 99)
        }
    }

    @Test func refusalsAreAnswersAndTheRestOfTheFrameIsApplied() {
        let bench = Bench()
        let one = bench.connect()
        let long = String(repeating: "x", count: 512)
        let statuses = bench.apply(
            [
                .register(1, "a"), .register(1, "b"), .register(2, "a\0"), .register(3, long),
                .post(token: 9), .set(token: 1, state: 3),
            ],
            from: one
        )
        #expect(statuses == [0, 2, 1, 1, 2, 0])
    }

    @Test func malformedFramesCloseTheConnection() {
        let bench = Bench()
        let one = bench.connect()
        for frame in [[], [1], [UInt8](repeating: 0xff, count: 64)] as [[UInt8]] {
            let reply = frame.withUnsafeBytes { bench.state.receive($0, from: one, now: 0) }
            guard case .close = reply else {
                Issue.record("taken: \(frame)")
                continue
            }
        }
        #expect(bench.state.figures.malformed == 3)
    }
}
