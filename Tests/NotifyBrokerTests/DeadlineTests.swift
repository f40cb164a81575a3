import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// Claims that end by themselves: by their deadline, or after their linger.
@Suite struct DeadlineTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func pastItsDeadlineAClaimEndsAndItsWillIsDone() {
        let bench = Bench()
        let (one, two) = (bench.connect(pid: 5), bench.connect())
        _ = bench.apply([.register(1, "n")], from: two)
        _ = bench.apply([.claim(1, "n", deadline: 100)], from: one, now: 0)
        #expect(bench.state.tick(now: 99 * Self.millisecond) == 100 * Self.millisecond)
        #expect(bench.events(two).isEmpty)
        #expect(bench.state.tick(now: 100 * Self.millisecond) == nil)
        let event = bench.events(two).first
        #expect(event?.cause == .expired && event?.state == 99 && event?.pid == 5)
        let info = bench.ask([.inspect(token: 1)], from: two).first?.info
        #expect(info?.cause == .expired && info?.connection == 0 && info?.state == 99)
        #expect(bench.state.figures.expired == 1)
    }

    @Test func theLateClaimerIsToldAndMayClaimAgain() {
        let bench = Bench()
        let one = bench.connect()
        _ = bench.apply([.claim(1, "n", deadline: 100)], from: one, now: 0)
        _ = bench.state.tick(now: 200 * Self.millisecond)
        #expect(bench.apply([.set(token: 1, state: 1)], from: one) == [102])
        #expect(bench.apply([.renew(token: 1)], from: one) == [102])
        #expect(bench.apply([.post(token: 1)], from: one) == [102])
        #expect(bench.apply([.cancel(token: 1), .claim(2, "n")], from: one) == [0, 0])
        let info = bench.ask([.inspect(token: 2)], from: one).first?.info
        #expect(info?.cause == .post && info?.connection == one)
        #expect(bench.apply([.set(token: 2, state: 1)], from: one) == [0])
    }

    @Test(arguments: [
        Operation.set(token: 1, state: 1), .post(token: 1), .setAndPost(token: 1, state: 1),
        .renew(token: 1), .postName("n"),
    ])
    func eachWriteOfTheClaimerRenewsIt(write: Operation) {
        let bench = Bench()
        let one = bench.connect()
        _ = bench.apply([.claim(1, "n", deadline: 100)], from: one, now: 0)
        #expect(bench.apply([write], from: one, now: 80 * Self.millisecond) == [0])
        #expect(bench.state.tick(now: 100 * Self.millisecond) == 180 * Self.millisecond)
        #expect(bench.state.figures.expired == 0)
        _ = bench.state.tick(now: 180 * Self.millisecond)
        #expect(bench.state.figures.expired == 1)
    }

    @Test func readingDoesNotRenewAndOthersCannot() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        _ = bench.apply([.claim(1, "n", deadline: 100)], from: one, now: 0)
        _ = bench.apply([.register(1, "n")], from: two)
        #expect(bench.apply([.inspect(token: 1)], from: one, now: 90 * Self.millisecond) == [0])
        #expect(bench.apply([.renew(token: 1)], from: two, now: 90 * Self.millisecond) == [7])
        _ = bench.state.tick(now: 100 * Self.millisecond)
        #expect(bench.state.figures.expired == 1)
    }

    @Test func aDeadlineIsCutToWhatIsAllowed() {
        let bench = Bench()
        let one = bench.connect()
        _ = bench.apply([.claim(1, "a", deadline: 1)], from: one, now: 0)
        #expect(bench.state.tick(now: 0) == 10 * Self.millisecond)
        _ = bench.state.tick(now: 10 * Self.millisecond)
        _ = bench.apply([.claim(2, "b", deadline: .max)], from: one, now: 0)
        #expect(bench.state.tick(now: 0) == 86_400_000 * Self.millisecond)
    }

    @Test func endsComeInTheirOrderHoweverManyThereAre() {
        let bench = Bench(layout: MemoryLayoutOfBus(slots: 1024, poolWords: 64))
        let one = bench.connect()
        // 500 claims in a mixed order, a third of them let go again.
        for index in 0..<500 as Range<UInt32> {
            let deadline = 10 + index * 7919 % 500
            _ = bench.apply([.claim(index, "n\(index)", deadline: deadline)], from: one, now: 0)
        }
        for index in stride(from: 0, to: 500, by: 3) {
            _ = bench.apply([.cancel(token: UInt32(index))], from: one, now: 0)
        }
        var kept: [UInt64] = []
        for index in 0..<500 where index % 3 != 0 { kept.append(UInt64(10 + index * 7919 % 500)) }
        for now in 1...600 as ClosedRange<UInt64> {
            _ = bench.state.tick(now: now * Self.millisecond)
            let due = kept.count { $0 <= now }
            #expect(bench.state.figures.expired == UInt64(due))
        }
        #expect(bench.state.tick(now: 0) == nil)
    }

    @Test func lingersOfAUserAreCountedAndTheNextOneEndsAtOnce() {
        var limits = BrokerLimits()
        limits.lingers = 2
        let bench = Bench(quotas: BrokerQuotas(all: limits))
        let watcher = bench.connect(pid: 9, uid: 1)
        for index in 0..<3 as Range<UInt32> {
            _ = bench.apply([.register(index, "n\(index)", delivers: false)], from: watcher)
        }
        for index in 0..<3 {
            let one = bench.connect(uid: 5)
            _ = bench.apply([.claim(1, "n\(index)", linger: 10, will: nil)], from: one)
            bench.state.disconnect(one, now: 0)
        }
        let owners = (0..<3 as Range<UInt32>).map {
            bench.ask([.inspect(token: $0)], from: watcher).first?.info?.uid
        }
        #expect(owners == [5, 5, 0])
        #expect(bench.state.figures.overQuota == 1)
        // Once they have ended, there is room again.
        #expect(bench.state.tick(now: 10_000_000_000) == nil)
        let one = bench.connect(uid: 5)
        _ = bench.apply([.claim(1, "n2", linger: 10)], from: one)
        bench.state.disconnect(one, now: 0)
        #expect(bench.ask([.inspect(token: 2)], from: watcher).first?.info?.uid == 5)
    }
}
