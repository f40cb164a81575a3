extension Retention {
    /// What a run has found and done.
    package struct Outcome: Equatable, Sendable {
        /// What was removed, or would be, by peer, kind and reason; of segments that would be
        /// rewritten about.
        package var removed: [RemovedSpan] = []
        /// Bytes of everything in the spool's folder afterwards.
        package var bytes: UInt64 = 0
        /// What they may be.
        package var bytesMax: UInt64 = 0
        /// Bytes that are free on the file system afterwards, and that are to be.
        package var free: UInt64 = 0
        package var freeLeast: UInt64 = 0
        /// What somebody should look at, in plain words.
        package var warnings: [String] = []
        /// Segments of which a part should go, and that cannot be read.
        package var unreadable: Set<String> = []
        /// Segments that were written anew.
        package var rewritten = 0
        /// True where more is to go at once.
        var isUnfinished = false
        /// Hot batches up to this number should become cold, for parts of them to go.
        var coldUpTo: Int64?

        /// True where another run has something to do at once.
        package var goesOn: Bool { isUnfinished || coldUpTo != nil }

        /// What was removed, one for each reason.
        package var byReason: [RemovedSpan] {
            RemovalReason.allCases.compactMap { reason in
                var spans = removed.filter { $0.reason == reason }
                guard var sum = spans.popLast() else { return nil }
                (sum.peer, sum.kind) = ("", "")
                for span in spans { sum.join(span) }
                return sum
            }
        }

        /// Takes in what went.
        mutating func add(_ spans: [RemovedSpan]) {
            for span in spans {
                let place = removed.firstIndex {
                    $0.peer == span.peer && $0.kind == span.kind && $0.reason == span.reason
                }
                if let place { removed[place].join(span) } else { removed.append(span) }
            }
        }
    }
}

/// What is to be told of the bounds, with the option, its value, and what is there.
enum RetentionWarnings {
    /// From so many hundredths of a bound on it is told that the bound comes.
    private static let near: UInt64 = 80

    static func all(
        _ rules: RetentionRules,
        _ left: RetentionPlan.Left,
        unmet: [RemovalReason]
    ) -> [String] {
        var found: [String] = []
        let size = "--keep-size \(left.bytesMax)\(rules.bytes == nil ? " (no size is set)" : "")"
        if unmet.contains(.size) {
            found.append("\(size): the spool has \(left.bytes) bytes, and \(nothingLeft)")
        } else if let share = share(left.bytes, of: left.bytesMax) {
            found.append(
                "\(size): the spool has \(left.bytes) bytes, \(share) %; the oldest go at 100 %"
            )
        }
        if let most = left.recordsMax {
            if unmet.contains(.records) {
                found.append(
                    "--keep-records \(most): the spool has \(left.records), and \(nothingLeft)"
                )
            } else if let share = share(left.records, of: most) {
                found.append(
                    "--keep-records \(most): the spool has \(left.records), \(share) %; "
                        + "the oldest go at 100 %"
                )
            }
        }
        if unmet.contains(.disk) {
            found.append(
                "--keep-free \(left.freeLeast): the disk has \(left.free) bytes left, "
                    + "and \(nothingLeft)"
            )
        }
        return found
    }

    private static let nothingLeft =
        "nothing more can go: the rest is the newest, or kept by 'least' of --keep"

    private static func share(_ value: UInt64, of most: UInt64) -> UInt64? {
        let share = UInt64(Double(value) / Double(max(1, most)) * 100)
        return share >= near ? share : nil
    }

    /// A wall clock that is not believed.
    static func clock(ahead: UInt64) -> String {
        let hours = ahead / 3_600_000_000_000
        return "the wall clock leapt \(hours) h ahead of what the spool knows: ages are counted "
            + "without that until it has said so for a day"
    }
}
