/// `intel help [COMMAND]`.
enum HelpCommand {
    static let definition = Command(
        "help",
        summary: "this overview, or a command's flags",
        operands: "[COMMAND]",
        operandsMax: 2,
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        guard !arguments.operands.isEmpty else {
            return try arguments.answer(HelpText.overview + "\n")
        }
        let name = arguments.operands.joined(separator: " ")
        guard let command = CommandTable.command(name) else {
            throw CommandError("no command '\(name)'", hint: "see 'intel help'")
        }
        return try arguments.answer(HelpText.command(command) + "\n")
    }
}
