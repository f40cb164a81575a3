import Telemetry
import Testing

@testable import Spool

/// The clock of ages beside wall clocks that step.
@Suite struct AgeClockTests {
    private let hour: UInt64 = 3_600_000_000_000
    private let start: Int64 = 1_796_000_000_000_000_000

    private func wall(_ hours: Int) -> Int64 { start + Int64(hours) * Int64(hour) }

    @Test func itRunsWithTheBootClockAndNeverBack() {
        var clock = AgeClock(nil, wall: start, boot: 7 * hour)
        #expect(clock.now(wall: wall(1), boot: 8 * hour) == wall(1))
        // The wall clock is set back: ages go on.
        #expect(clock.now(wall: wall(-500), boot: 9 * hour) == wall(2))
        #expect(clock.now(wall: wall(-499), boot: 10 * hour) == wall(3))
        #expect(clock.disbelieved == 0)
        // And is right again.
        #expect(clock.now(wall: wall(4), boot: 11 * hour) == wall(4))
    }

    @Test("a night off counts at once, a leap of four years after a day of running time")
    func leaps() {
        var clock = AgeClock(AgeClock.State(time: start), wall: wall(23), boot: 0)
        #expect(clock.state.time == wall(23))
        let years = 4 * 365 * 24
        #expect(clock.now(wall: wall(23 + years), boot: hour) == wall(24))
        #expect(clock.disbelieved > 1000 * hour)
        // Corrected in time: nothing has happened.
        #expect(clock.now(wall: wall(25), boot: 2 * hour) == wall(25))
        #expect(clock.disbelieved == 0 && clock.state.ahead == 0)
        for passed in 3...25 as ClosedRange<UInt64> {
            let now = clock.now(wall: wall(23 + years + Int(passed)), boot: passed * hour)
            #expect(now == wall(23 + Int(passed)))
        }
        #expect(clock.now(wall: wall(49 + years), boot: 26 * hour) == wall(49 + years))
        #expect(clock.disbelieved == 0)
    }

    @Test("the proof is counted over restarts: a machine that runs some hours a day gets there")
    func proofOverRestarts() {
        var state = AgeClock.State(time: start)
        var days = 0
        while state.time < wall(24 * 30), days < 10 {
            // After a month off; each day the boot clock begins anew, and six hours pass.
            var clock = AgeClock(state, wall: wall(24 * (30 + days)), boot: hour)
            _ = clock.now(wall: wall(24 * (30 + days) + 6), boot: 7 * hour)
            state = clock.state
            days += 1
        }
        #expect(days == 4)
    }

    @Test func theEndsOfTimeDoNotOverflow() {
        var clock = AgeClock(AgeClock.State(time: .max), wall: .min, boot: .max)
        #expect(clock.now(wall: .max, boot: 0) == .max)
        clock = AgeClock(AgeClock.State(time: .min), wall: .max, boot: 0)
        #expect(clock.disbelieved > 0 && clock.state.time < 0)
        #expect(Int64.min.before(1) == nil && Int64(5).before(.max) == 5 - .max)
    }
}
