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

    @Test func aLongFrameIsDoneInTurnsAndAnsweredOnce() {
        let (bench, one) = bench(names: 2)
        let two = bench.connect(uid: 6)
        _ = bench.apply([.register(1, "n.1")], from: two)
        let frame = Bench.request([Operation](repeating: .post(token: 1), count: 1000))
        bench.state.beginTurn()
        let first = frame.withUnsafeBytes { bench.state.receive($0, from: one, now: 0) }
        #expect(Bench.answered(first).isEmpty && bench.state.isUnfinished(one))
        let done = bench.state.figures.posts
        #expect(done > 100 && done < 300)
        // Others come in between, and see what was done so far.
        #expect(bench.events(two).map(\.post) == [done])
        #expect(bench.apply([.post(token: 1)], from: two) == [0])
        var turns = 1
        var answers: [Answered] = []
        while bench.state.isUnfinished(one), turns < 100 {
            bench.state.beginTurn()
            answers += Bench.answered(bench.state.resume(one, now: 0))
            turns += 1
        }
        #expect(turns > 3 && turns < 10)
        #expect(answers.count == 1000 && answers.allSatisfy { $0.status == 0 })
        #expect(bench.state.figures.posts == 1001 && bench.state.unfinishedBytes == 0)
    }

    @Test(arguments: [false, true]) func namesAreReadInTurnsBeforeAnyIsTaken(_ isBroken: Bool) {
        let (bench, _) = bench(names: 0)
        let one = bench.connect(uid: 5)
        var frame = Bench.request((0..<400).map { .register($0, "n.\($0)", delivers: false) })
        // A last operation whose name is longer than the operation.
        if isBroken {
            frame.replaceSubrange((frame.count - 24)..., with: [UInt8](repeating: 255, count: 24))
        }
        bench.state.beginTurn()
        var reply = frame.withUnsafeBytes { bench.state.receive($0, from: one, now: 0) }
        var turns = 1
        while bench.state.isUnfinished(one), turns < 1000 {
            // 256 units are about 80 of them.
            if turns < 4 { #expect(bench.state.figures.names == 0) }
            bench.state.beginTurn()
            reply = bench.state.resume(one, now: 0)
            turns += 1
        }
        #expect(turns > 4)
        #expect(bench.state.figures.names == (isBroken ? 0 : 400))
        #expect(bench.state.unfinishedBytes == 0)
        if case .close = reply { #expect(isBroken) } else { #expect(!isBroken) }
    }

    @Test func framesBehindALongOneKeepTheirOrder() {
        let (bench, one) = bench(names: 1)
        var sets = (1...1000).map { Operation.set(token: 0, state: $0) }
        sets.append(.inspect(token: 0))
        let (long, short) = (Bench.request(sets), Bench.request([.set(token: 0, state: 7)]))
        bench.state.beginTurn()
        for frame in [long, short] {
            _ = frame.withUnsafeBytes { bench.state.receive($0, from: one, now: 0) }
        }
        #expect(bench.state.unfinishedBytes == long.count + short.count)
        var answered: [[Answered]] = []
        while bench.state.isUnfinished(one) {
            bench.state.beginTurn()
            let results = Bench.answered(bench.state.resume(one, now: 0))
            if !results.isEmpty { answered.append(results) }
        }
        #expect(answered.map(\.count) == [1001, 1])
        #expect(answered.first?.last?.info?.state == 1000)
        #expect(bench.state.information("n.0")?.state == 7)
    }

    @Test func aListingGoesOnWhereItStopped() {
        let (bench, one) = bench(names: 2000)
        let two = bench.connect(uid: 6)
        _ = bench.apply([.register(1, "n.5009"), .register(2, "n.9990009")], from: two)
        let frame = Bench.request([.who(prefix: "n.", suffix: "9", after: "n.5")])
        bench.state.beginTurn()
        var reply = frame.withUnsafeBytes { bench.state.receive($0, from: one, now: 0) }
        #expect(bench.state.isUnfinished(one))
        // A name that was found goes, and one that would be; one comes before the place, one after.
        _ = bench.apply([.cancel(token: 1), .cancel(token: 2)], from: two)
        _ = bench.apply([.register(3, "n.5019"), .register(4, "n.9999")], from: two)
        while bench.state.isUnfinished(one) {
            bench.state.beginTurn()
            reply = bench.state.resume(one, now: 0)
        }
        #expect(Bench.answered(reply).first?.body.prefix(8) == [57, 0, 0, 0, 0, 0, 0, 0])
        #expect(bench.names(one, prefix: "n.", suffix: "9").count { $0 > "n.5" } == 58)
    }

    @Test func withoutRoomForTheRestAFrameIsDoneWhole() {
        let (bench, one) = bench(names: 1)
        let frame = Bench.request([Operation](repeating: .set(token: 0, state: 1), count: 2700))
        let fits = (8 << 20) / frame.count
        let others = (0..<fits + 1).map { _ in bench.connect(uid: 5) }
        for number in others {
            _ = bench.apply([.register(0, "m.\(number)", delivers: false)], from: number)
            bench.state.beginTurn()
            _ = frame.withUnsafeBytes { bench.state.receive($0, from: number, now: 0) }
        }
        let isLeft = others.map { bench.state.isUnfinished($0) }
        #expect(isLeft.dropLast().allSatisfy { $0 } && isLeft.last == false)
        #expect(bench.state.unfinishedBytes == fits * frame.count)
        // One that waits already is finished first, and in order.
        let set = Bench.request([Operation](repeating: .set(token: 0, state: 9), count: 2700))
        let reply = set.withUnsafeBytes { bench.state.receive($0, from: others[0], now: 0) }
        #expect(!bench.state.isUnfinished(others[0]))
        #expect(Bench.answered(reply).count == 2700)
        #expect(bench.state.information("m.\(others[0])")?.state == 9)
        for number in others { bench.state.disconnect(number, now: 0) }
        #expect(bench.state.unfinishedBytes == 0)
        _ = one
    }

    @Test func namesOfAnEndedConnectionGoInSteps() {
        let (bench, one) = bench(names: 1000)
        bench.state.beginTurn()
        bench.state.disconnect(one, now: 0)
        #expect(bench.state.figures.connections == 0 && bench.state.figures.names == 984)
        // Whoever ends meanwhile does not wait for all of them.
        let (other, _) = (bench.connect(uid: 6), 0)
        _ = bench.apply([.register(1, "other")], from: other)
        bench.state.beginTurn()
        bench.state.disconnect(other, now: 0)
        #expect(bench.state.information("other") == nil && bench.state.isEnding)
        var steps = 0
        while bench.state.isEnding, steps < 1000 {
            bench.state.endSome(now: 0)
            steps += 1
        }
        #expect(steps == 62 && bench.state.figures.names == 0)
        #expect(bench.names(bench.connect(uid: 5)).isEmpty)
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
