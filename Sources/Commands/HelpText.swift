/// Help, made from the table alone.
enum HelpText {
    /// What `intel help` prints.
    static var overview: String {
        var lines = [
            "intel: the black box recorder of a machine",
            "",
            "usage: intel COMMAND [FLAGS]",
            "",
        ]
        let width = CommandTable.all.map(\.name.count).max() ?? 0
        for command in CommandTable.all {
            lines.append("  \(pad(command.name, to: width))  \(command.summary)")
        }
        lines += ["", "'intel help COMMAND' tells more; 'intel --version' the version."]
        return lines.joined(separator: "\n")
    }

    /// What `intel help NAME` prints.
    static func command(_ command: Command) -> String {
        var usage = "usage: intel " + command.name
        if !command.flags.isEmpty { usage += " [FLAGS]" }
        if !command.operands.isEmpty { usage += " " + command.operands }
        var lines = ["intel \(command.name): \(command.summary)", "", usage, ""]
        let flags = command.flags + [ArgumentParser.help]
        let width = min(30, flags.map(\.usage.count).max() ?? 0)
        for flag in flags {
            lines.append("  \(pad(flag.usage, to: width))  \(flag.help)")
        }
        if !command.notes.isEmpty { lines += [""] + command.notes }
        return lines.joined(separator: "\n")
    }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
