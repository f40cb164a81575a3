import FuzzEntries
import LinuxIO
import NotifyProtocol
import Testing

@testable import NotifyBroker

/// What ended connections leave behind, step by step, and limits that no frame must run over.
@Suite struct EndingTests {
    private static let millisecond: UInt64 = 1_000_000

    private func bench(
        _ count: UInt32,
        _ operation: (UInt32) -> Operation
    ) -> (Bench, UInt64) {
        let bench = Bench(layout: MemoryLayoutOfBus(slots: 1 << 17, poolWords: 64))
        let one = bench.connect(uid: 5)
        for start in stride(from: 0, to: count, by: 500) {
            let some = (start..<min(start + 500, count)).map(operation)
            #expect(bench.apply(some, from: one).allSatisfy { $0 == 0 })
        }
        return (bench, one)
    }

    /// With registrations, events that wait, a claim, a frame that is half done, and a connection
    /// that has ended and not left yet.
    @Test func anEndedBrokerLeavesNothingInMemory() {
        weak var memory: PlainMemory?
        do {
            let bench = Bench(layout: MemoryLayoutOfBus(slots: 1 << 16, poolWords: 64))
            memory = bench.memory
            let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 5))
            for start in stride(from: 0, to: 2000, by: 400) as StrideTo<UInt32> {
                let wanted = (start..<start + 400).map { Operation.register($0, "n.\($0)") }
                _ = bench.apply(wanted, from: one)
            }
            _ = bench.apply((0..<400 as Range<UInt32>).map { .register($0, "n.\($0)") }, from: two)
            _ = bench.apply([.claim(401, "mine"), .register(402, "mine")], from: two)
            _ = bench.apply((0..<400 as Range<UInt32>).map { .post(token: $0) }, from: two)
            bench.state.beginTurn()
            bench.state.disconnect(one, now: 0)
            let posts = Bench.request([Operation](repeating: .post(token: 1), count: 1000))
            bench.state.beginTurn()
            _ = posts.withUnsafeBytes { bench.state.receive($0, from: two, now: 0) }
            #expect(bench.state.isEnding && bench.state.isUnfinished(two) && memory != nil)
        }
        #expect(memory == nil)
    }

    @Test func aStepTakesNoLongerHoweverMuchIsLeft() {
        let (bench, one) = bench(100_000) { .register($0, "n", delivers: false) }
        bench.state.beginTurn()
        bench.state.disconnect(one, now: 0)
        var times: [UInt64] = []
        while bench.state.isEnding {
            let start = Clock.system.boot()
            bench.state.endSome(now: 0)
            times.append(Clock.system.boot() - start)
        }
        // Medians: the machine may be busy with anything.
        let (first, last) = (times.prefix(101).sorted()[50], times.suffix(101).sorted()[50])
        #expect(first < 8 * last, "\(first) ns with all left, \(last) ns with nothing left")
        #expect(bench.state.figures.names == 0)
    }

    @Test func namesOfAnEndedConnectionAreFreeForWhoeverAsks() {
        let (bench, one) = bench(100) { .claim($0, "n\($0)", linger: $0 == 97 ? 30 : 0, will: 4) }
        let two = bench.connect(uid: 5)
        _ = bench.apply((90..<100 as Range<UInt32>).map { .register($0, "n\($0)") }, from: two)
        bench.state.beginTurn()
        bench.state.disconnect(one, now: 0)
        #expect(bench.state.isEnding)
        #expect(bench.apply([.claim(1, "n99", will: nil)], from: two) == [0])
        #expect(bench.apply([.set(token: 98, state: 6), .postName("n95")], from: two) == [0, 0])
        // One that lingers is its process's.
        #expect(bench.apply([.claim(2, "n97"), .set(token: 97, state: 1)], from: two) == [7, 7])
        // Wills were done first, and are not done again.
        while bench.state.isEnding { bench.state.endSome(now: 0) }
        let infos = bench.ask([99, 98, 97, 95].map { .inspect(token: $0) }, from: two).map(\.info)
        #expect(infos.map { $0?.state } == [0, 6, 4, 4])
        #expect(infos.map { $0?.posts } == [1, 1, 1, 2])
        #expect(infos.map { $0?.cause } == [.post, .died, .died, .died])
    }

    @Test func willsWithManySubscribersAreDoneOneByOne() {
        let (bench, one) = bench(20) { .claim($0, "n\($0)", will: 4) }
        let two = bench.connect(uid: 5)
        for start in stride(from: 0, to: 5000, by: 500) as StrideTo<UInt32> {
            let some = (start..<start + 500).map { Operation.register($0, "n\($0 % 5)") }
            #expect(bench.apply(some, from: two).allSatisfy { $0 == 0 })
        }
        bench.state.beginTurn()
        bench.state.disconnect(one, now: 0)
        // 1,000 subscribers each: two are more than a turn. The others' wills cost nothing.
        #expect(bench.state.figures.posts == 2)
        for _ in 0..<3 { bench.state.endSome(now: 0) }
        #expect(bench.state.figures.posts == 20 && !bench.state.isEnding)
    }

    @Test func claimsThatEndAtOneTimeEndInTurns() {
        let (bench, _) = bench(100) { .claim($0, "n\($0)", deadline: 100) }
        let now = 100 * Self.millisecond
        bench.state.beginTurn()
        #expect(bench.state.tick(now: now) == now)
        let first = bench.state.figures.expired
        #expect(first > 0 && first < 50)
        var turns = 1
        var next: UInt64? = now
        while next != nil, turns < 100 {
            bench.state.beginTurn()
            next = bench.state.tick(now: now)
            turns += 1
        }
        #expect(bench.state.figures.expired == 100 && turns > 3 && turns < 20)
    }

    @Test func suspensionsAreRefusedBeforeTheyCannotBeCounted() throws {
        let (bench, one) = bench(1) { .register($0, "n") }
        let subscription = try #require(bench.state.connections[one]?.registrations[0])
        subscription.suspensions = .max - 1
        #expect(bench.apply([.suspend(token: 0), .suspend(token: 0)], from: one) == [0, 100])
        #expect(bench.apply([.post(token: 0), .resume(token: 0)], from: one) == [0, 0])
        #expect(bench.events(one).isEmpty)
        subscription.suspensions = 1
        #expect(bench.apply([.resume(token: 0)], from: one) == [0])
        #expect(bench.events(one).count == 1)
    }

    @Test func aNameCountsAmongThoseOfWhoeverIsLeft() throws {
        let (bench, one) = bench(2) { .register($0, "n", delivers: $0 == 0) }
        let (two, three) = (bench.connect(uid: 6), bench.connect(uid: 7))
        func names() -> [Int?] {
            [one, two, three].map { bench.state.connections[$0]?.account.names }
        }
        let both = [Operation.register(0, "n"), .register(1, "n", delivers: false)]
        for number in [two, three] { #expect(bench.apply(both, from: number) == [0, 0]) }
        #expect(names() == [1, 0, 0])
        _ = bench.apply([.cancel(token: 0)], from: one)
        #expect(names() == [1, 0, 0])
        _ = bench.apply([.cancel(token: 1)], from: one)
        let heir = try #require(names().firstIndex(of: 1))
        #expect(names().compactMap(\.self).reduce(0, +) == 1 && heir > 0)
        bench.disconnect([one, two, three][heir], now: 0)
        #expect(names() == (heir == 1 ? [0, nil, 1] : [0, 1, nil]))
        _ = bench.apply([.cancel(token: 0), .cancel(token: 1)], from: heir == 1 ? three : two)
        #expect(names().compactMap(\.self) == [0, 0] && bench.state.figures.names == 0)
    }
}
