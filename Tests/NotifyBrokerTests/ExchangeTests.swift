import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// Compare-and-set: two writers, and nobody's write is lost.
@Suite struct ExchangeTests {
    private func exchange(_ number: UInt64, _ state: UInt64, posts: Bool = false) -> Operation {
        .compareAndSet(token: 1, number: number, state: state, posts: posts)
    }

    @Test func theFirstOfTwoWritersWinsAndTheOtherLearnsWhatIsThere() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        let first = bench.ask([.register(1, "n")], from: one).first?.info
        let second = bench.ask([.register(1, "n")], from: two).first?.info
        #expect(first?.stateNumber == second?.stateNumber)
        let number = first?.stateNumber ?? 0
        let won = bench.ask([exchange(number, 5)], from: one).first
        #expect(won?.status == 0 && won?.info?.state == 5 && won?.info?.stateNumber == number + 1)
        let lost = bench.ask([exchange(number, 6)], from: two).first
        #expect(lost?.status == 101 && lost?.info?.state == 5)
        #expect(lost?.info?.stateNumber == number + 1)
        #expect(bench.ask([exchange(number + 1, 6)], from: two).first?.status == 0)
        #expect(bench.ask([.inspect(token: 1)], from: one).first?.info?.state == 6)
    }

    @Test func incrementsOfManyWritersAllCount() {
        let bench = Bench()
        let writers = (1...5).map { bench.connect(pid: $0) }
        var known: [UInt64: NameInfo] = [:]
        for writer in writers {
            known[writer] = bench.ask([.register(1, "n")], from: writer).first?.info
        }
        var done = 0
        var conflicts = 0
        while done < 500 {
            // Everybody tries with what it knew at the beginning of the round.
            for writer in writers {
                let before = known[writer] ?? NameInfo()
                let answer = bench.ask(
                    [exchange(before.stateNumber, before.state + 1)],
                    from: writer
                ).first
                known[writer] = answer?.info
                if answer?.status == 0 { done += 1 } else { conflicts += 1 }
            }
        }
        #expect(
            bench.ask([.inspect(token: 1)], from: writers[0]).first?.info?.state == UInt64(done)
        )
        #expect(conflicts > 0)
    }

    @Test func everySetCountsAndPostsDoNot() {
        let bench = Bench()
        let one = bench.connect()
        let start = bench.ask([.register(1, "n")], from: one).first?.info?.stateNumber ?? 0
        _ = bench.apply(
            [.set(token: 1, state: 0), .post(token: 1), .setAndPost(token: 1, state: 2)],
            from: one
        )
        #expect(bench.events(one).last?.stateNumber == start + 2)
        let answer = bench.ask([exchange(start + 2, 9, posts: true)], from: one).first
        #expect(answer?.status == 0 && answer?.info?.posts == 3)
        let event = bench.events(one).first
        #expect(event?.state == 9 && event?.stateNumber == start + 3 && event?.merged == 1)
    }

    @Test func aNameThatComesAgainRepeatsNoNumber() {
        let bench = Bench()
        let one = bench.connect()
        var last: UInt64 = 0
        for round in 1...10 as ClosedRange<UInt64> {
            let now = round * 1000
            let info = bench.ask([.register(1, "n")], from: one, now: now).first?.info
            #expect((info?.stateNumber ?? 0) > last)
            for _ in 0..<5 { _ = bench.apply([.set(token: 1, state: 1)], from: one, now: now) }
            last = bench.ask([.inspect(token: 1)], from: one).first?.info?.stateNumber ?? 0
            _ = bench.apply([.cancel(token: 1)], from: one, now: now)
        }
    }

    @Test func aConflictInAQuietFrameIsAnswered() {
        let bench = Bench()
        let one = bench.connect()
        _ = bench.ask([.register(1, "n")], from: one)
        #expect(bench.ask([.set(token: 1, state: 1)], from: one, isQuiet: true).isEmpty)
        let answers = bench.ask(
            [.set(token: 1, state: 2), exchange(77, 3), .set(token: 1, state: 4)],
            from: one,
            isQuiet: true
        )
        #expect(answers.map(\.status) == [0, 101, 0])
        #expect(answers.dropFirst().first?.info?.state == 2)
    }

    @Test func aClaimedNameIsNotExchangedByOthers() {
        let bench = Bench()
        let (one, two) = (bench.connect(), bench.connect())
        let number = bench.ask([.claim(1, "n")], from: one).first?.info?.stateNumber ?? 0
        _ = bench.ask([.register(1, "n")], from: two)
        #expect(bench.ask([exchange(number, 3)], from: two).first?.status == 7)
    }
}
