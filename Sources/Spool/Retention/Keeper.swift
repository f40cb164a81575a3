internal import LinuxIO
internal import Telemetry

/// When retention runs: every half minute, more often where an age is short, and at once when a
/// commit finds no room or the last run has left something to do.
struct Keeper {
    /// What retention has done and found so far.
    struct Figures: Equatable, Sendable {
        var removedRecords: UInt64 = 0
        var removedBytes: UInt64 = 0
        /// What the last run has found; nil before the first.
        var last: Retention.Outcome?
        var failure: String?
    }

    private let directory: String
    private let rules: RetentionRules
    private let limits: CompactionLimits
    private let shouldStop: () -> Bool
    private var clock: AgeClock?
    private var nextRun: UInt64 = 0
    private(set) var figures = Figures()

    init(
        _ directory: String,
        _ rules: RetentionRules,
        _ limits: CompactionLimits,
        shouldStop: @escaping () -> Bool
    ) {
        self.directory = directory
        self.rules = rules
        self.limits = limits
        self.shouldStop = shouldStop
    }

    /// Between two runs, ns: a quarter of the shortest age, so that none is exceeded by much.
    private var interval: UInt64 {
        guard let age = rules.shortestAge else { return Limits.retentionInterval }
        return min(Limits.retentionInterval, max(Limits.batchDelay, age / 4))
    }

    /// How long until the next run, ns.
    var patience: UInt64 {
        let now = Clock.system.boot()
        return nextRun > now ? nextRun - now : 1
    }

    /// True if it is time for a run.
    func isDue(isFull: Bool) -> Bool {
        isFull || Clock.system.boot() >= nextRun
    }

    /// Puts the next run off for a moment.
    mutating func wait(nanoseconds: UInt64) {
        nextRun = Clock.system.boot() + nanoseconds
    }

    /// Runs; whoever calls holds the lock of the segments.
    mutating func run(isFull: Bool) {
        nextRun = Clock.system.boot() + interval
        do {
            var retention = try Retention(
                directory: directory,
                rules: rules,
                limits: limits,
                unreadable: figures.last?.unreadable ?? [],
                shouldStop: shouldStop
            )
            let (wall, boot) = (Clock.system.wall(), Clock.system.boot())
            let stored = try retention.clockState()
            var clock = self.clock ?? AgeClock(stored, wall: wall, boot: boot)
            _ = clock.now(wall: wall, boot: boot)
            self.clock = clock
            let outcome = try retention.run(now: wall, clock: clock, isFull: isFull)
            for span in outcome.removed {
                figures.removedRecords += span.records
                figures.removedBytes += span.bytes
            }
            figures.last = outcome
            var goesOn = outcome.isUnfinished && !outcome.removed.isEmpty
            if let last = outcome.coldUpTo { goesOn = try makeCold(last) || goesOn }
            if goesOn { nextRun = boot }
            figures.failure = nil
        } catch {
            if shouldStop() { return }
            nextRun = Clock.system.boot() + interval
            figures.failure = "\(SpoolError("apply retention to spool", directory, error))"
        }
    }

    /// Moves hot batches of which a part is to go into the cold tier; true if there were any.
    private func makeCold(_ last: Int64) throws -> Bool {
        var compaction = try Compaction(
            directory: directory,
            limits: limits,
            shouldStop: shouldStop
        )
        var isMoved = false
        while try compaction.step(upTo: last) != nil { isMoved = true }
        return isMoved
    }
}
