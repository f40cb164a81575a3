internal import LinuxIO
internal import SQLite
internal import Spool

/// `intel sql`: SQL over the history.
enum SQLCommand {
    static let output = Flag(
        "output",
        short: "o",
        "FORMAT",
        choices: SQLFormat.allCases.map(\.rawValue),
        help: "table (the default), csv, json (one object a line)"
    )

    static let definition = Command(
        "sql",
        summary: "SQL over the tables records, peers, losses, removed, groups, batches, segments",
        operands: "[STATEMENT]",
        operandsMax: 1,
        flags: [output, .quiet, .spool],
        notes: [
            "Without STATEMENT: from standard input; with history where that is a terminal.",
            "Answered without unpacking what cannot match: time, time_ns, peer, kind, level,",
            "priority, seq, epoch, id, store compared with = < <= > >= BETWEEN IN; peer and kind",
            "with LIKE and GLOB; text MATCH 'x' (as query -g); payload LIKE '%x%'; and one path:",
            "SELECT time, value FROM records('$.total') WHERE value > 40.",
            "docs/sql.md has the tables and the loadable extension for other programs.",
            "",
            "Exit status: 0 done, 1 no rows, 2 error, 3 damaged parts were skipped,",
            "4 not allowed.",
        ],
        run: run
    )

    /// Bytes of one statement at the most, from standard input.
    static let statementBytesMax = 16 << 20

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        let format = arguments.value(output).flatMap { SQLFormat(rawValue: $0) } ?? .table
        // The door says "not allowed" and "not there" apart.
        _ = try SpoolDoor.open(folder)
        if arguments.operands.isEmpty, Descriptor.isTerminal(Descriptor.input) {
            return try SQLShell.run(folder, format, arguments)
        }
        var session = try reading { () throws(SpoolError) in try SQLSession(directory: folder) }
        var output = SQLOutput(format, descriptor: arguments.output)
        var run = SQLRun()
        if let text = arguments.operands.first {
            try run.all(text, &session, &output)
        } else {
            try fromInput(&run, &session, &output)
        }
        if output.isClosed { return ExitStatus.success }
        return status(run, session)
    }

    /// Names what was skipped, and gives the exit status.
    static func status(_ run: SQLRun, _ session: borrowing SQLSession) -> Int32 {
        let status = Notes.status(found: run.hasFound, session.report)
        for peer in session.damagedPeers {
            let name = TerminalText.escaped(peer)
            StandardError.line("intel: the books of '\(name)' are damaged, skipping")
        }
        return session.damagedPeers.isEmpty ? status : ExitStatus.partial
    }

    /// Runs statements as they come whole, so that what feeds them sees each result.
    private static func fromInput(
        _ run: inout SQLRun,
        _ session: inout SQLSession,
        _ output: inout SQLOutput
    ) throws(CommandError) {
        var lines = InputLines(descriptor: Descriptor.input, lineBytesMax: statementBytesMax)
        var text = ""
        while let line = try calling({ () throws(SystemError) in try lines.next() }) {
            text += String(decoding: line, as: UTF8.self) + "\n"
            guard !lines.isCut, text.utf8.count <= statementBytesMax else {
                throw CommandError(
                    "standard input, line \(lines.number): a statement is longer than "
                        + "\(statementBytesMax >> 20) MB",
                    hint: "end statements with a semicolon"
                )
            }
            if output.isClosed { return }
            guard SQLSession.isComplete(text) else { continue }
            try run.all(text, &session, &output)
            text = ""
        }
        try run.all(text, &session, &output)
    }
}

/// Runs statements and keeps what the exit status needs.
struct SQLRun {
    /// True if a statement has given a row, or needed to give none.
    private(set) var hasFound = false

    /// Runs all statements of a text, up to the first that fails.
    mutating func all(
        _ text: String,
        _ session: inout SQLSession,
        _ output: inout SQLOutput
    ) throws(CommandError) {
        var rest = Substring(text)
        while !output.isClosed {
            let before = output.count
            var givesRows = false
            let isThere: Bool
            do throws(SQLiteError) {
                isThere = try session.run(
                    first: &rest,
                    header: { names in
                        givesRows = true
                        output.begin(names)
                    },
                    { output.write($0) }
                )
            } catch {
                // What came before the failure is shown, and then why there is no more.
                try output.end()
                throw CommandError(error.message)
            }
            try output.end()
            if !isThere { return }
            if !givesRows || output.count > before { hasFound = true }
        }
    }
}
