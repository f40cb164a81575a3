internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Removing by hand, with an agent or without one.
extension Retention {
    /// What the rules would remove now; nothing is changed.
    ///
    /// - Parameters:
    ///   - now: CLOCK_REALTIME, ns since 1970.
    ///   - isBesideAgent: true where an agent runs, whose clock of ages counts.
    package static func preview(
        directory: String,
        rules: RetentionRules,
        now: Int64,
        isBesideAgent: Bool = false
    ) throws -> Outcome {
        let database = try Database(path: Schema.database(directory), mode: .read)
        try Schema.settle(database)
        let disk = try DiskSpace(at: directory)
        let state = try Schema.hasAges(database) ? AgeBook.state(database) : nil
        let ages = Self.ages(state, now, Clock.system.boot(), isBesideAgent)
        let view = try RetentionView(directory, database, disk, rules, now, ages.state.time)
        var outcome = Outcome()
        for removal in view.plan.removals {
            outcome.add(try view.spans(removal, now, database))
        }
        outcome.bytes = RetentionView.bytes(directory)
        outcome.bytesMax = rules.bytes(on: disk)
        outcome.free = disk.free
        outcome.freeLeast = rules.free(on: disk)
        outcome.warnings = RetentionWarnings.all(rules, view.plan.left, unmet: view.plan.unmet)
        if ages.disbelieved > 0 {
            outcome.warnings.append(RetentionWarnings.clock(ahead: ages.disbelieved))
        }
        return outcome
    }

    /// Removes what is to go, beside an agent too.
    ///
    /// - Parameter now: CLOCK_REALTIME, ns since 1970.
    /// - Throws: `SpoolError` of kind `.locked` where somebody else works on the segments for
    ///   longer than `patience` ns.
    package static func byHand(
        directory: String,
        rules: RetentionRules,
        now: Int64,
        limits: CompactionLimits = CompactionLimits(),
        patience: UInt64 = Limits.segmentLockPatience
    ) throws -> Outcome {
        let writer = try writerIfFree(directory)
        let isBesideAgent = writer == nil
        guard let lock = try SegmentLock.take(directory, patience: patience) else {
            throw SpoolError(
                operation: "prune spool",
                subject: directory,
                cause: "its segments are being worked on",
                hint: "the agent makes or removes some: try again in a moment",
                kind: .locked(pid: nil)
            )
        }
        var compaction = try Compaction(directory: directory, limits: limits)
        var all = Outcome()
        while true {
            var retention = try Retention(
                directory: directory,
                rules: rules,
                limits: limits,
                unreadable: all.unreadable
            )
            let state = try retention.clockState()
            let ages = Self.ages(state, now, Clock.system.boot(), isBesideAgent)
            var outcome = try retention.run(now: now, clock: ages, isFull: false)
            var isMoved = false
            if let last = outcome.coldUpTo {
                while try compaction.step(upTo: last) != nil { isMoved = true }
            }
            let removed = outcome.removed
            let isInVain = removed.isEmpty && !isMoved && outcome.unreadable == all.unreadable
            let isDone = !outcome.goesOn || isInVain
            outcome.removed = all.removed
            outcome.add(removed)
            outcome.rewritten += all.rewritten
            all = outcome
            if isDone { break }
        }
        _ = consume lock
        _ = consume writer
        return all
    }

    /// The clock of ages: an agent's own, or the wall clock, which a person can look at.
    private static func ages(
        _ stored: AgeClock.State?,
        _ wall: Int64,
        _ boot: UInt64,
        _ isBesideAgent: Bool
    ) -> AgeClock {
        if isBesideAgent { return AgeClock(stored, wall: wall, boot: boot) }
        let state = AgeClock.State(time: max(wall, stored?.time ?? wall))
        return AgeClock(state, wall: wall, boot: boot)
    }

    /// The spool's writer, where no agent is: puts right what a crash has left, and keeps agents
    /// away meanwhile.
    private static func writerIfFree(_ directory: String) throws -> SpoolWriter? {
        do throws(SpoolError) {
            return try SpoolWriter(directory: directory, durability: .full)
        } catch {
            guard case .locked = error.kind else { throw error }
            return nil
        }
    }
}
