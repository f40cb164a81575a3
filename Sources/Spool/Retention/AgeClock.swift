internal import Telemetry

/// The time that ages are reckoned by: it never goes back, and a wall clock that leaps ahead is
/// not believed at once.
///
/// It runs with the boot clock. Where the wall clock is ahead by up to `Limits.ageStep` (the night
/// that the machine was off), it follows at once. Beyond that (an empty battery can say 2030) it
/// follows when the wall clock has been ahead for `Limits.ageProof` of running time. Where the wall
/// clock is behind, it runs on. Only differences of it mean anything.
struct AgeClock: Equatable {
    /// What outlives the process.
    struct State: Equatable {
        /// The time, ns.
        var time: Int64
        /// For how long, of running time, the wall clock has been ahead by more than it may, ns.
        var ahead: UInt64 = 0
    }

    private(set) var state: State
    private var boot: UInt64
    /// By how much the wall clock is ahead and not believed, ns; 0 where it is.
    private(set) var disbelieved: UInt64 = 0

    /// Goes on from what was stored; without that, from the wall clock.
    init(_ stored: State?, wall: Int64, boot: UInt64) {
        state = stored ?? State(time: wall)
        self.boot = boot
        _ = now(wall: wall, boot: boot)
    }

    /// The time now, from the two clocks.
    mutating func now(wall: Int64, boot: UInt64) -> Int64 {
        let passed = boot - min(boot, self.boot)
        self.boot = max(boot, self.boot)
        state.time = state.time.adding(passed)
        let (step, isOver) = wall.subtractingReportingOverflow(state.time)
        let ahead = isOver ? (wall > 0 ? UInt64.max : 0) : UInt64(max(0, step))
        if ahead <= Limits.ageStep {
            follow(max(wall, state.time))
        } else {
            state.ahead += passed
            disbelieved = ahead
            if state.ahead >= Limits.ageProof { follow(wall) }
        }
        return state.time
    }

    private mutating func follow(_ time: Int64) {
        state = State(time: time)
        disbelieved = 0
    }
}

extension Int64 {
    /// The sum, or the greatest number where that has no room.
    func adding(_ span: UInt64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(Int64(clamping: span))
        return isOver ? .max : sum
    }

    /// The difference; nil where that has no room.
    func before(_ span: UInt64) -> Int64? {
        let (difference, isOver) = subtractingReportingOverflow(Int64(clamping: span))
        return isOver ? nil : difference
    }
}
