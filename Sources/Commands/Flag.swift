/// One flag: its definition feeds the parser, `--help`, and later the man pages and completions.
struct Flag: Sendable, Equatable {
    /// The long name, without the dashes.
    let name: String
    /// The letter for `-x`.
    let short: Character?
    /// What the value is called in help; nil for a switch, which takes none.
    let metavar: String?
    /// The only values that are taken; empty for any.
    let choices: [String]
    /// True where it may be given more than once and all values count; else the last one counts.
    let repeats: Bool
    /// What it does, in one line.
    let help: String

    init(
        _ name: String,
        short: Character? = nil,
        _ metavar: String? = nil,
        choices: [String] = [],
        repeats: Bool = false,
        help: String
    ) {
        self.name = name
        self.short = short
        self.metavar = metavar
        self.choices = choices
        self.repeats = repeats
        self.help = help
    }

    /// `-n, --lines N|all`, as help shows it.
    var usage: String {
        let letter = short.map { "-\($0), " } ?? "    "
        return "\(letter)--\(name)" + (metavar.map { " " + $0 } ?? "")
    }
}

/// One command: what it is called, what it takes, and the function that does it.
struct Command: Sendable {
    /// The word after `intel`.
    let name: String
    /// One line for `intel help`.
    let summary: String
    /// The operands as usage shows them: `[FILE…]`; empty where none is taken.
    let operands: String
    /// The most operands that are taken.
    let operandsMax: Int
    /// True where the order of the arguments matters, so that the command reads them itself.
    let readsItself: Bool
    /// Its flags, in the order of help.
    ///
    /// `--help` is common to all and not listed.
    let flags: [Flag]
    /// More lines for `intel help NAME`.
    let notes: [String]
    /// Does the work and gives the exit status.
    let run: @Sendable (Parsed) throws(CommandError) -> Int32

    init(
        _ name: String,
        summary: String,
        operands: String = "",
        operandsMax: Int = 0,
        readsItself: Bool = false,
        flags: [Flag] = [],
        notes: [String] = [],
        run: @escaping @Sendable (Parsed) throws(CommandError) -> Int32
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        self.operandsMax = operandsMax
        self.readsItself = readsItself
        self.flags = flags
        self.notes = notes
        self.run = run
    }
}
