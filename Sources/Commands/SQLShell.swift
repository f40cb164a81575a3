internal import LinuxIO
internal import Spool

/// `intel sql` on a terminal: a prompt, statements over several lines, a history.
///
/// The line editor is our own: readline's licence is not ours, and either library would make the
/// static program depend on the terminal's description files.
struct SQLShell: ~Copyable {
    private var session: SQLSession
    private var output: SQLOutput
    private var run = SQLRun()
    private var history: SQLHistory
    private let interrupts: Interrupts
    private let descriptor: Int32

    static func run(
        _ folder: String,
        _ format: SQLFormat,
        _ arguments: Parsed
    ) throws(CommandError) -> Int32 {
        let interrupts = try calling { () throws(SystemError) in try Interrupts() }
        let session = try reading { () throws(SpoolError) in
            try SQLSession(directory: folder) { interrupts.haveCome() }
        }
        var shell = SQLShell(
            session: session,
            output: SQLOutput(format, descriptor: arguments.output),
            interrupts: interrupts,
            descriptor: arguments.output
        )
        if !arguments.has(.quiet) {
            StandardError.line("intel sql on \(TerminalText.escaped(folder)); .help for help")
        }
        try shell.loop()
        return SQLCommand.status(shell.run, shell.session) == ExitStatus.partial
            ? ExitStatus.partial : ExitStatus.success
    }

    private init(
        session: consuming SQLSession,
        output: consuming SQLOutput,
        interrupts: Interrupts,
        descriptor: Int32
    ) {
        self.session = session
        self.output = output
        self.interrupts = interrupts
        self.descriptor = descriptor
        history = SQLHistory()
    }

    private mutating func loop() throws(CommandError) {
        var text = ""
        while !output.isClosed {
            let prompt = text.isEmpty ? "intel> " : "  ...> "
            switch try read(prompt) {
            case .ended: return
            case .dropped: text = ""
            case .entered(let line):
                let word = line.filter { $0 != " " }
                if text.isEmpty, word.hasPrefix(".") {
                    if !command(word) { return }
                    continue
                }
                if text.isEmpty, word.isEmpty { continue }
                text += line + "\n"
                guard SQLSession.isComplete(text) else { continue }
                history.add(String(text.dropLast()))
                perform(text)
                text = ""
            case .edited: break
            }
        }
    }

    private mutating func perform(_ text: String) {
        // One from before belongs to what was before.
        _ = interrupts.haveCome()
        do throws(CommandError) {
            try run.all(text, &session, &output)
        } catch {
            StandardError.line(error.description)
        }
    }

    /// Words with a dot; false for the one that ends the shell.
    private mutating func command(_ word: String) -> Bool {
        switch word {
        case ".quit", ".exit": return false
        case ".tables":
            perform("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view');")
        case ".schema":
            perform(
                "SELECT m.name AS \"table\", c.name AS \"column\", c.type FROM sqlite_schema m, "
                    + "pragma_table_xinfo(m.name) c WHERE m.type IN ('table', 'view');"
            )
        default:
            StandardError.line(
                """
                statements end with a semicolon; Ctrl-C stops one, Ctrl-D ends
                .tables  .schema  .quit  .help
                """
            )
        }
        return true
    }

    private func read(_ prompt: String) throws(CommandError) -> LineEditor.Step {
        guard let raw = RawTerminal(Descriptor.input) else { return .ended }
        defer { withExtendedLifetime(raw) {} }
        var editor = LineEditor(history: history.lines)
        var chunk = [UInt8](repeating: 0, count: 1)
        while true {
            let columns = RawTerminal.columns(descriptor)
            show(editor.display(prompt: prompt, columns: columns))
            var step: LineEditor.Step?
            repeat {
                let count = try calling { () throws(SystemError) in
                    try Descriptor.read(Descriptor.input, into: &chunk)
                }
                guard count > 0 else { return .ended }
                step = editor.take(chunk[0])
            } while step == nil
            guard let step, step != .edited else { continue }
            show(step == .dropped ? "^C\r\n" : "\r\n")
            return step
        }
    }

    private func show(_ text: String) {
        try? Descriptor.write(descriptor, Array(text.utf8))
    }
}

/// Ctrl-C while a statement runs, as something to be asked for.
private final class Interrupts {
    private let signals: Signals

    init() throws(SystemError) {
        signals = try Signals([.interrupt])
    }

    /// True if there were any since the last call.
    func haveCome() -> Bool {
        var come = false
        while signals.next() != nil { come = true }
        return come
    }
}

/// The statements of earlier times, in a file of this user's alone.
private struct SQLHistory {
    /// Statements that are kept.
    static let linesMax = 1000

    private(set) var lines: [String] = []
    private let path: String?

    init() {
        let state =
            Environment["XDG_STATE_HOME"] ?? Environment["HOME"].map { $0 + "/.local/state" }
        path = state.map { $0 + "/intel/sql_history" }
        guard let path, let bytes = try? Files.contents(path, limit: 4 << 20) else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        lines = text.split(separator: "\n").suffix(Self.linesMax).map(String.init)
    }

    /// Adds a statement, in one line, and keeps the file in step; where that fails, the history of
    /// this run is all there is.
    mutating func add(_ statement: String) {
        let line = statement.split { $0.isNewline }.joined(separator: " ")
        if lines.last == line { return }
        lines.append(line)
        lines = lines.suffix(Self.linesMax)
        guard let path else { return }
        try? Files.makeFolder(Files.parent(of: path), mode: 0o700)
        try? Files.write(lines.joined(separator: "\n") + "\n", to: path, mode: 0o600)
    }
}
