/// How much of its time the broker gives to work of more than a turn.
///
/// All of it while nobody else speaks. Else a quarter: where a flood keeps one processor busy and
/// the broker another, those whom it serves would wait for a processor, longer than for the broker.
struct Pace {
    /// How long after somebody was served at once the others are still thought of, ns.
    private static let memory: UInt64 = 10_000_000
    /// Pauses are so many times as long as the work before them.
    private static let pause: UInt64 = 3
    /// The longest pause, ns.
    private static let pauseMax: UInt64 = 1_000_000

    /// When somebody was last served who asked for less than a turn.
    private var lastShortWork: UInt64 = 0
    /// Long work is not done before.
    private(set) var nextLongWork: UInt64 = 0

    mutating func noteShortWork(at now: UInt64) { lastShortWork = now }

    mutating func noteLongWork(from start: UInt64, to end: UInt64) {
        let isAlone = end > lastShortWork + Self.memory
        nextLongWork = isAlone ? end : end + min(Self.pause * (end - start), Self.pauseMax)
    }
}
