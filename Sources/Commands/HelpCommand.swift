internal import LinuxIO

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
            return try show(HelpText.overview + "\n")
        }
        guard let command = CommandTable.command(name) else {
            throw CommandError("no command '\(name)'", hint: "see 'intel help'")
        }
        return try show(HelpText.command(command) + "\n")
    }

    /// Writes `text` to standard output; a closed pipe is success.
    static func show(_ text: String) throws(CommandError) -> Int32 {
        do throws(SystemError) {
            var output = Output()
            try output.append(text)
            try output.flush()
        } catch {
            throw CommandError(error.description)
        }
        return ExitStatus.success
    }
}
