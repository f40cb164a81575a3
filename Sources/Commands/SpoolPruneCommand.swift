internal import Basics
internal import LinuxIO
internal import Spool

/// `intel spool prune`: removes by hand what rules do not keep, as the agent does by itself.
enum SpoolPruneCommand {
    static let dryRun = Flag("dry-run", help: "say what would be removed, and remove nothing")

    static let definition = Command(
        "spool prune",
        summary: "remove what is older or more than is to be kept",
        flags: RetentionFlags.all + [dryRun, .json, .spool],
        notes: [
            "The oldest go first; the newest batch stays. It works beside an agent too, which by",
            "itself removes what its own --keep flags say.",
            "Exit status: 0 done, 2 error, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let rules = try RetentionFlags.rules(arguments)
        let spool = Places(arguments).spool()
        _ = try SpoolDoor.open(spool)
        let isDry = arguments.has(dryRun)
        let outcome: Retention.Outcome
        do {
            let now = Clock.system.wall()
            if isDry {
                let isBeside = RunningAgent.find(spool: spool) != nil
                outcome = try Retention.preview(
                    directory: spool,
                    rules: rules,
                    now: now,
                    isBesideAgent: isBeside
                )
            } else {
                outcome = try Retention.byHand(directory: spool, rules: rules, now: now)
            }
        } catch let error as SpoolError {
            throw CommandError(error)
        } catch {
            throw CommandError("prune spool '\(spool)': \(error)")
        }
        for warning in outcome.warnings {
            StandardError.line("intel: " + TerminalText.escaped(warning))
        }
        return try arguments.answer(
            arguments.has(.json) ? json(outcome, isDry: isDry) : text(outcome, isDry: isDry)
        )
    }

    /// A line a reason.
    static func text(_ outcome: Retention.Outcome, isDry: Bool) -> String {
        if outcome.removed.isEmpty { return "nothing to remove\n" }
        var lines = ""
        let verb = isDry ? "would remove" : "removed"
        for span in outcome.byReason {
            let records = FigureText.grouped(span.records)
            let bytes = FigureText.bytes(span.bytes)
            let first = FigureText.stamp(span.times.lowerBound)
            let last = FigureText.stamp(span.times.upperBound)
            let why = span.reason.rawValue
            lines += "\(verb) \(records) records, \(bytes) (\(why)): \(first) to \(last)\n"
        }
        return lines
    }

    static func json(_ outcome: Retention.Outcome, isDry: Bool) -> String {
        let removed = outcome.removed.map { span -> [UInt8] in
            var object = ObjectWriter()
            object.add("peer", span.peer)
            object.add("kind", span.kind)
            object.add("reason", span.reason.rawValue)
            object.add("records", span.records)
            object.add("bytes", span.bytes)
            object.add("first_store", span.stores.lowerBound)
            object.add("last_store", span.stores.upperBound)
            object.add("first_time", span.times.lowerBound)
            object.add("last_time", span.times.upperBound)
            return object.finished
        }
        var object = ObjectWriter()
        object.add("dry_run", isDry)
        object.add("removed", array: removed)
        object.add("rewritten", UInt64(outcome.rewritten))
        object.add("bytes", outcome.bytes)
        object.add("bytes_max", outcome.bytesMax)
        object.add("free", outcome.free)
        object.add("free_least", outcome.freeLeast)
        object.add("warnings", texts: outcome.warnings)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }
}
