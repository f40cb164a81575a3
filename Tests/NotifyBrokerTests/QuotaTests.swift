import Basics
import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// What one connection and one user may have; who meets a limit is told, and nobody else notices.
@Suite struct QuotaTests {
    private func bench(_ change: (inout BrokerLimits) -> Void) -> Bench {
        var limits = BrokerLimits()
        change(&limits)
        var user = limits
        user.registrations = limits.registrations &* 2
        user.names = limits.names &* 2
        user.poolWords = limits.poolWords &* 2
        user.postsPerSecond = limits.postsPerSecond &* 2
        var quotas = BrokerQuotas(all: limits)
        quotas.user = user
        quotas.master = user
        return Bench(owner: 100, quotas: quotas)
    }

    /// What `connections` answers about oneself.
    private func report(_ bench: Bench, _ number: UInt64) -> ConnectionReport? {
        let body = bench.ask([.connections(after: number - 1)], from: number).first?.body ?? []
        return body.dropFirst(8).withContiguousStorageIfAvailable { bytes in
            var reader = ByteReader(UnsafeRawBufferPointer(bytes))
            return try? ConnectionReport(from: &reader)
        } ?? nil
    }

    @Test func registrations() {
        let bench = bench { $0.registrations = 3 }
        let one = bench.connect(uid: 5)
        let wanted = (0..<5 as Range<UInt32>).map { Operation.register($0, "n") }
        #expect(bench.apply(wanted, from: one) == [0, 0, 0, 100, 100])
        #expect(report(bench, one)?.quotaHits.registrations == 2)
        #expect(report(bench, one)?.refused == 2 && bench.state.figures.overQuota == 2)
        #expect(bench.apply([.cancel(token: 0), .register(9, "n")], from: one) == [0, 0])
        // Twice as many for all of a user's; another user has its own.
        let two = bench.connect(uid: 5)
        #expect(bench.apply(wanted, from: two) == [0, 0, 0, 100, 100])
        let three = bench.connect(uid: 5)
        #expect(bench.apply(wanted, from: three) == [100, 100, 100, 100, 100])
        #expect(bench.apply(wanted, from: bench.connect(uid: 6)) == [0, 0, 0, 100, 100])
        bench.state.disconnect(two, now: 0)
        #expect(bench.apply(wanted, from: three) == [0, 0, 0, 100, 100])
    }

    @Test func namesCountForWhoeverKeepsThem() {
        let bench = bench { $0.names = 2 }
        let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 6))
        #expect(bench.apply((0..<3).map { .register($0, "n\($0)") }, from: one) == [0, 0, 100])
        #expect(report(bench, one)?.quotaHits.names == 1)
        // A name that is there already costs nothing, until its maker goes.
        #expect(bench.apply([.register(0, "n0"), .register(1, "m1")], from: two) == [0, 0])
        #expect(bench.apply([.register(2, "m2"), .register(3, "m3")], from: two) == [0, 100])
        bench.state.disconnect(one, now: 0)
        #expect(bench.apply([.cancel(token: 2), .register(4, "m4")], from: two) == [0, 100])
        #expect(bench.apply([.cancel(token: 0), .register(4, "m4")], from: two) == [0, 0])
    }

    @Test func poolWords() {
        let bench = bench { $0.poolWords = 100 }
        let one = bench.connect(uid: 5)
        #expect(
            bench.apply([.claim(1, "a", pool: 60), .claim(2, "b", pool: 60)], from: one) == [
                0, 100,
            ]
        )
        #expect(report(bench, one)?.quotaHits.poolWords == 1)
        #expect(bench.state.figures.names == 1)
        #expect(bench.apply([.cancel(token: 1), .claim(2, "b", pool: 60)], from: one) == [0, 0])
        #expect(report(bench, one)?.poolWords == 60)
    }

    @Test func postsInASecond() {
        let bench = bench { $0.postsPerSecond = 10 }
        let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 6))
        _ = bench.apply([.register(1, "n")], from: one)
        _ = bench.apply([.register(1, "n")], from: two)
        let posts = [Operation](repeating: .post(token: 1), count: 12)
        let statuses = bench.apply(posts, from: one, now: 0)
        #expect(statuses == [UInt32](repeating: 0, count: 10) + [100, 100])
        #expect(bench.apply([.post(token: 1)], from: two, now: 0) == [0])
        // A set without a post is free; with one it is both or neither.
        #expect(bench.apply([.set(token: 1, state: 3)], from: one) == [0])
        #expect(bench.apply([.setAndPost(token: 1, state: 4)], from: one) == [100])
        #expect(bench.ask([.inspect(token: 1)], from: one).first?.info?.state == 3)
        // A tenth of a second is one post; a minute is one second's worth.
        let later = bench.apply(posts, from: one, now: 100_000_000)
        #expect(later.count { $0 == 0 } == 1)
        let much = bench.apply(posts, from: one, now: 60_000_000_000)
        #expect(much.count { $0 == 0 } == 10)
        #expect(report(bench, one)?.quotaHits.posts == 16)
    }

    @Test func connections() {
        let bench = bench { $0.connections = 2 }
        let numbers = (0..<3).map { _ in bench.connect(uid: 5) }
        #expect(numbers[2] == 0 && numbers[1] != 0 && bench.connect(uid: 6) != 0)
        bench.state.disconnect(numbers[0], now: 0)
        #expect(bench.connect(uid: 5) != 0)
    }

    @Test func aReaderThatNeverReadsCostsOneEventARegistration() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        // Registering, posting and cancelling again and again leaves nothing behind.
        for round in 0..<2000 as Range<UInt32> {
            #expect(
                bench.apply(
                    [.register(round, "n"), .post(token: round), .cancel(token: round)],
                    from: one
                ) == [0, 0, 0]
            )
        }
        #expect(report(bench, one)?.waiting == 0 && bench.events(one).isEmpty)
        _ = bench.apply([.register(1, "n"), .register(2, "n")], from: one)
        _ = bench.apply([.register(1, "n", delivers: false)], from: two)
        for _ in 0..<2000 { _ = bench.apply([.post(token: 1)], from: two) }
        // Suspending and resuming does not queue it twice either.
        for _ in 0..<10 { _ = bench.apply([.suspend(token: 1), .resume(token: 1)], from: one) }
        #expect(report(bench, one)?.waiting == 2)
        let events = bench.events(one)
        #expect(events.map(\.merged) == [2000, 2000])
    }

    @Test func bySizeOfTheAnswerARequestIsCutOff() {
        let bench = Bench()
        let one = bench.connect()
        _ = bench.apply([.register(1, "n")], from: one)
        let statuses = bench.apply(
            [Operation](repeating: .inspect(token: 1), count: 4000),
            from: one
        )
        #expect(statuses.count == 4000 && statuses.first == 0 && statuses.last == 100)
    }

    @Test func hundredThousandNamesOfOneClientAreFine() {
        let bench = Bench(layout: MemoryLayoutOfBus(slots: 1 << 17, poolWords: 64))
        let one = bench.connect(uid: 1000)
        var refused = 0
        for start in stride(from: 0, to: 100_000, by: 500) {
            let wanted = (start..<start + 500).map {
                Operation.register(UInt32($0), "com.example.name.\($0)", delivers: false)
            }
            refused += bench.apply(wanted, from: one).count { $0 != 0 }
        }
        #expect(refused == 0 && bench.state.figures.names == 100_000)
        let root = bench.connect()
        let names = bench.names(root, prefix: "com.example.name.999")
        #expect(names.count == 111 && names == names.sorted())
    }
}
