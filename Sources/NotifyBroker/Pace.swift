/// How much of its time the broker gives to work of more than a turn.
///
/// All of it while nobody else speaks. Else a part: where a flood keeps one processor busy and the
/// broker another, those whom it serves would wait for a processor, longer than for the broker.
/// Events on their way to many are waited for, so they get a quarter; what somebody asks for
/// without end, and what those leave who are gone, an eighth.
struct Pace {
    /// How long after somebody was served at once the others are still thought of, ns.
    private static let memory: UInt64 = 10_000_000
    /// Pauses are so many times as long as the work before them.
    private static let pause: UInt64 = 7
    /// The same after events were sent.
    private static let pauseOfEvents: UInt64 = 3
    /// The longest pause, ns.
    private static let pauseMax: UInt64 = 1_000_000

    /// When somebody was last served who asked for less than a turn.
    private var lastShortWork: UInt64 = 0
    /// Events for many are not sent before.
    private(set) var nextEvents: UInt64 = 0
    /// Other long work is not done before.
    private(set) var nextLongWork: UInt64 = 0

    mutating func noteShortWork(at now: UInt64) { lastShortWork = now }

    mutating func noteEvents(from start: UInt64, to end: UInt64) {
        nextEvents = end + pause(Self.pauseOfEvents, start, end)
    }

    mutating func noteLongWork(from start: UInt64, to end: UInt64) {
        nextLongWork = end + pause(Self.pause, start, end)
    }

    private func pause(_ times: UInt64, _ start: UInt64, _ end: UInt64) -> UInt64 {
        let isAlone = end > lastShortWork + Self.memory
        return isAlone ? 0 : min(times * (end - start), Self.pauseMax)
    }
}
