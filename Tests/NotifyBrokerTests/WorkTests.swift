import Basics
import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// That one frame cannot keep the broker busy for long, whatever is in it.
@Suite struct WorkTests {
    private func bench(names: Int) -> (Bench, UInt64) {
        let bench = Bench(layout: MemoryLayoutOfBus(slots: 1 << 16, poolWords: 64))
        let one = bench.connect(uid: 5)
        for start in stride(from: 0, to: names, by: 400) {
            let wanted = (start..<min(start + 400, names)).map {
                Operation.register(UInt32($0), "n.\($0)", delivers: false)
            }
            #expect(bench.apply(wanted, from: one).allSatisfy { $0 == 0 })
        }
        return (bench, one)
    }

    @Test func listingsOfOneFrameShareANumberOfLooks() {
        let (bench, one) = bench(names: 1000)
        let none = Operation.list(prefix: "x", suffix: "", after: "")
        let statuses = bench.apply([Operation](repeating: none, count: 100), from: one)
        #expect(statuses.prefix(4).allSatisfy { $0 == 0 } && statuses.last == 100)
        #expect(statuses.count { $0 == 0 } == 4)
        // The next frame begins anew, and anything else goes on.
        #expect(bench.apply([none, .inspect(token: 1)], from: one) == [0, 0])
        let mixed = [Operation](repeating: none, count: 20) + [.post(token: 1)]
        #expect(bench.apply(mixed, from: one).last == 0)
    }

    @Test func theFirstListingOfAFrameIsDoneHoweverManyNamesThereAre() {
        let (bench, one) = bench(names: 20_000)
        let none = Operation.who(prefix: "x", suffix: "", after: "")
        #expect(bench.apply([none, none, none], from: one) == [0, 100, 100])
        #expect(bench.apply([none], from: one) == [0])
    }

    @Test func listingsOfConnectionsCountToo() {
        let bench = Bench()
        let all = (0..<1000).map { _ in bench.connect(uid: 5) }
        let none = Operation.connections(after: .max)
        let statuses = bench.apply([Operation](repeating: none, count: 100), from: all[0])
        #expect(statuses.count { $0 == 0 } == 4)
    }

    @Test func aPostToManyCostsMoreThanOneToFew() {
        var limits = BrokerLimits()
        limits.postsPerSecond = 10_000
        let bench = Bench(owner: 100, quotas: BrokerQuotas(all: limits))
        let one = bench.connect(uid: 5)
        let wanted = (0..<400 as Range<UInt32>).map { Operation.register($0, "n") }
        _ = bench.apply(wanted, from: one)
        // 400 subscribers: 201 posts' worth.
        let posts = [Operation](repeating: .post(token: 1), count: 60)
        #expect(bench.apply(posts, from: one).count { $0 == 0 } == 49)
        // However many there are, some posts can be made.
        for start in stride(from: 400, to: 4000, by: 400) as StrideTo<UInt32> {
            _ = bench.apply((start..<start + 400).map { .register($0, "n") }, from: one)
        }
        let later = bench.apply(posts, from: one, now: 1_000_000_000)
        #expect(later.count { $0 == 0 } == 8)
    }

    @Test func whatWaitsIsCountedThroughEveryCall() {
        let bench = Bench()
        let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 5))
        _ = bench.apply((1...5).map { .register($0, "n") }, from: one)
        _ = bench.apply([.register(1, "n", delivers: false)], from: two)
        #expect(waiting(bench, one) == 0)
        _ = bench.apply([.post(token: 1), .post(token: 1)], from: two)
        #expect(waiting(bench, one) == 5)
        _ = bench.apply([.suspend(token: 1), .cancel(token: 2), .cancel(token: 1)], from: one)
        #expect(waiting(bench, one) == 3)
        #expect(bench.events(one).count == 3 && waiting(bench, one) == 0)
        _ = bench.apply([.suspend(token: 3)], from: one)
        _ = bench.apply([.post(token: 1)], from: two)
        #expect(bench.events(one).count == 2 && waiting(bench, one) == 1)
        bench.state.disconnect(one, now: 0)
        let other = bench.connect(uid: 5)
        _ = bench.apply([.register(1, "n")], from: other)
        #expect(waiting(bench, other) == 0)
    }

    private func waiting(_ bench: Bench, _ number: UInt64) -> UInt32? {
        let body = bench.ask([.connections(after: number - 1)], from: number).first?.body ?? []
        return body.withUnsafeBytes { bytes -> UInt32? in
            guard bytes.count > 8 else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8...]))
            return (try? ConnectionReport(from: &reader))?.waiting
        }
    }
}
