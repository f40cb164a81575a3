internal import LinuxIO
internal import Spool

/// `intel query`: the history.
enum QueryCommand {
    static let output = Flag(
        "output",
        short: "o",
        "FORMAT",
        choices: ["short", "json", "cat"],
        help: "short, json (one object a line), cat (message or payload alone)"
    )
    static let follow = Flag("follow", short: "f", help: "go on with what comes; starts with 10")
    static let noTail = Flag("no-tail", help: "with --follow: all that is there, not the last 10")
    static let count = Flag("count", help: "how many there are instead of the records")

    static let definition = Command(
        "query",
        summary: "read the history: records by time, peer, kind, level and text",
        flags: RecordFilter.flags + [follow, noTail, count, output, .noPager],
        notes: [
            "TIME: '2026-11-30 03:20:00', 03:20, today, yesterday, now, -2h, '2h ago',",
            "@1796000000; with UTC, Z or +01:00 after it if it is not local. Every time that",
            "is printed is taken back. A clock time that occurs twice is the earlier one.",
            "",
            "Exit status: 0 found, 1 nothing matched, 2 error, 3 damaged parts were skipped,",
            "4 not allowed.",
        ],
        run: run
    )

    /// Lines that `--follow` starts with if nothing says how many.
    static let tailLines = 10

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let filter = try RecordFilter(arguments)
        let format = arguments.value(output).flatMap { RecordFormat(rawValue: $0) } ?? .short
        let spool = Places(arguments).spool()
        if arguments.has(count) {
            guard !arguments.has(follow) else {
                throw CommandError("--count does not go with --follow", hint: "leave one out")
            }
            return try counted(filter.query, spool, arguments)
        }
        if arguments.has(follow) {
            var query = filter.query
            let isOpen = arguments.has(noTail) || arguments.has(.lines) || arguments.has(.since)
            if !isOpen { query.last = tailLines }
            let writer = RecordWriter(format, zone: filter.zone, descriptor: arguments.output)
            var follower = try Follower(spool, query, writer)
            return try follower.run(output: arguments.output)
        }
        return try history(filter, format, spool, arguments)
    }

    private static func history(
        _ filter: RecordFilter,
        _ format: RecordFormat,
        _ spool: String,
        _ arguments: Parsed
    ) throws(CommandError) -> Int32 {
        var reader = try reading { () throws(SpoolError) in try SpoolReader(directory: spool) }
        var writer = RecordWriter(format, zone: filter.zone, descriptor: arguments.output)
        var report = ScanReport()
        if filter.query.last != 0 {
            report = try reading { () throws(SpoolError) in
                try reader.forEach(filter.query) { writer.write(RecordItem($0)) }
            }
        }
        try writer.flush()
        if writer.isClosed { return ExitStatus.success }
        let isQuiet = arguments.has(.quiet)
        if !isQuiet { try Notes.historyStart(&reader, filter) }
        if writer.count == 0, !isQuiet, report.isWhole { Notes.nothingMatches() }
        return Notes.status(found: writer.count > 0, report)
    }

    private static func counted(
        _ query: Query,
        _ spool: String,
        _ arguments: Parsed
    ) throws(CommandError) -> Int32 {
        var reader = try reading { () throws(SpoolError) in try SpoolReader(directory: spool) }
        let (count, report) = try reading { () throws(SpoolError) in try reader.count(query) }
        try arguments.answer("\(count)\n")
        return Notes.status(found: count > 0, report)
    }
}

/// What is told on stderr beside the records.
enum Notes {
    /// Says where the history begins if `--since` asks for more: fewer records than expected must
    /// not look like all there ever were.
    static func historyStart(
        _ reader: inout SpoolReader,
        _ filter: RecordFilter
    ) throws(CommandError) {
        guard let since = filter.query.since else { return }
        let summary = try reading { () throws(SpoolError) in try reader.summary() }
        guard let oldest = summary.oldestTime, since < oldest else { return }
        var text: [UInt8] = []
        var printer = TimePrinter(zone: filter.zone)
        printer.append(oldest, to: &text)
        let time = String(decoding: text, as: UTF8.self)
        StandardError.line("intel: note: the oldest record kept is of \(time)")
    }

    static func nothingMatches() {
        StandardError.line("intel: note: no record matches")
    }

    /// Names what was skipped, and gives the exit status.
    static func status(found: Bool, _ report: ScanReport) -> Int32 {
        guard !report.isWhole else { return found ? ExitStatus.success : ExitStatus.nothing }
        for batch in report.damagedBatches {
            StandardError.line("intel: " + TerminalText.escaped(batch) + ", skipping")
        }
        let batches = report.damagedBatches.count
        StandardError.line(
            "intel: \(batches) damaged \(batches == 1 ? "batch" : "batches") skipped, "
                + "\(report.damagedRecords) records"
        )
        return ExitStatus.partial
    }
}
