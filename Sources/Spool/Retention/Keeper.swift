internal import LinuxIO
internal import Telemetry

/// When retention runs: every half minute, and at once when a commit finds no room.
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
    private var nextRun: UInt64 = 0
    private(set) var figures = Figures()

    init(_ directory: String, _ rules: RetentionRules) {
        self.directory = directory
        self.rules = rules
    }

    /// How long until the next run, ns.
    var patience: UInt64 {
        let now = Clock.system.boot()
        return nextRun > now ? nextRun - now : 1
    }

    /// Runs if it is time; true if it did.
    mutating func runIfDue(isFull: Bool) -> Bool {
        let now = Clock.system.boot()
        guard isFull || now >= nextRun else { return false }
        nextRun = now + Limits.retentionInterval
        do {
            var retention = try Retention(directory: directory, rules: rules)
            let outcome = try retention.run(now: Clock.system.wall(), isFull: isFull)
            for span in outcome.removed {
                figures.removedRecords += span.records
                figures.removedBytes += span.bytes
            }
            figures.last = outcome
            figures.failure = nil
        } catch {
            figures.failure = "\(SpoolError("apply retention to spool", directory, error))"
        }
        return true
    }
}
