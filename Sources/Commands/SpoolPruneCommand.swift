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
            "The oldest go first; the newest batch stays. While an agent collects, only --dry-run",
            "works: it removes by itself what its own --keep flags say.",
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
                outcome = try Retention.preview(directory: spool, rules: rules, now: now)
            } else {
                outcome = try Retention.byHand(directory: spool, rules: rules, now: now)
            }
        } catch let error as SpoolError {
            let hint =
                if case .locked = error.kind {
                    "the agent removes by itself: give it --keep flags; --dry-run works beside it"
                } else {
                    error.hint
                }
            throw CommandError("\(error)", hint: hint)
        } catch {
            throw CommandError("prune spool '\(spool)': \(error)")
        }
        return try arguments.answer(
            arguments.has(.json) ? json(outcome, isDry: isDry) : text(outcome, isDry: isDry)
        )
    }

    static func text(_ outcome: Retention.Outcome, isDry: Bool) -> String {
        if outcome.removed.isEmpty { return "nothing to remove\n" }
        var lines = ""
        let verb = isDry ? "would remove" : "removed"
        for span in outcome.removed {
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
        object.add("bytes", outcome.bytes)
        object.add("bytes_max", outcome.bytesMax)
        object.add("free", outcome.free)
        object.add("free_least", outcome.freeLeast)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }
}
