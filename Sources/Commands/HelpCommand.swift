/// `intel help [COMMAND]`.
enum HelpCommand {
    static let definition = Command(
        "help",
        summary: "this overview, or a command's flags",
        operands: "[COMMAND]",
        operandsMax: 1,
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        guard let name = arguments.operands.first else {
            return try arguments.answer(HelpText.overview + "\n")
        }
        guard let command = CommandTable.command(name) else {
            throw CommandError("no command '\(name)'", hint: "see 'intel help'")
        }
        return try arguments.answer(HelpText.command(command) + "\n")
    }
}
