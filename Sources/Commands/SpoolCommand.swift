/// `intel spool`: looks after the store; each part is a command of its own, named by two words.
enum SpoolCommand {
    static let parts: [Command] = [
        SpoolVerifyCommand.definition,
        SpoolUsageCommand.definition,
        SpoolBackupCommand.definition,
        SpoolPruneCommand.definition,
        SpoolSalvageCommand.definition,
    ]

    static let definition = Command(
        "spool",
        summary: "look after the spool: "
            + parts.map { String($0.name.dropFirst(6)) }.joined(separator: ", "),
        operands: "COMMAND",
        readsItself: true,
        notes: parts.map { "  intel \(HelpText.pad($0.name, to: 16)) \($0.summary)" }
            + ["", "'intel help spool COMMAND' tells more."],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let text = HelpText.command(definition) + "\n"
        guard let name = arguments.operands.first else {
            throw CommandError("no command given for 'intel spool'", hint: "see 'intel help spool'")
        }
        if name == "--help" || name == "-h" { return try arguments.answer(text) }
        let near = Spelling.nearest("spool " + name, among: parts.map(\.name))
        let guess = near.map { "did you mean 'intel \($0)'? " } ?? ""
        throw CommandError(
            "unknown command 'spool \(name)'",
            hint: guess + "see 'intel help spool'"
        )
    }
}
