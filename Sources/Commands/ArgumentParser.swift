/// Reads arguments by a command's table, in the grammar of `getopt_long`: `--name value`,
/// `--name=value`, unique beginnings of names, `-n5`, `-n 5`, bundled letters, flags after
/// operands, and `--` before operands that look like flags.
struct ArgumentParser {
    private var parsed: Parsed
    private let arguments: [String]
    private var index = 0

    private init(_ command: Command, _ arguments: [String]) {
        parsed = Parsed(command: command)
        self.arguments = arguments
    }

    /// Reads what stands after the command's name.
    static func parse(_ command: Command, _ arguments: [String]) throws(CommandError) -> Parsed {
        var parser = ArgumentParser(command, arguments)
        if command.readsItself {
            parser.parsed.operands = arguments
        } else {
            try parser.run()
        }
        return parser.parsed
    }

    private mutating func run() throws(CommandError) {
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            if argument == "--" {
                parsed.operands += arguments[index...]
                break
            } else if argument.hasPrefix("--") {
                try long(argument.dropFirst(2))
            } else if argument.hasPrefix("-"), argument != "-" {
                try letters(argument.dropFirst())
            } else {
                parsed.operands.append(argument)
            }
        }
        guard parsed.operands.count <= parsed.command.operandsMax else {
            let extra = parsed.operands[parsed.command.operandsMax]
            throw usage("unexpected argument '\(extra)' for 'intel \(parsed.command.name)'")
        }
    }

    private mutating func long(_ text: Substring) throws(CommandError) {
        let equals = text.firstIndex(of: "=")
        let name = equals.map { text[..<$0] } ?? text
        let flag = try flag(named: name)
        let attached = equals.map { String(text[text.index(after: $0)...]) }
        if flag.metavar == nil {
            guard attached == nil else { throw usage("--\(flag.name) takes no value") }
            return parsed.add(flag, "")
        }
        if let attached {
            try add(flag, attached)
        } else {
            try add(flag, next("--" + flag.name))
        }
    }

    private mutating func letters(_ text: Substring) throws(CommandError) {
        var rest = text
        while let letter = rest.popFirst() {
            let flags = parsed.command.flags + [Self.help]
            guard let flag = flags.first(where: { $0.short == letter }) else {
                throw usage("unknown flag '-\(letter)' of 'intel \(parsed.command.name)'")
            }
            if flag.metavar == nil {
                parsed.add(flag, "")
                continue
            }
            try add(flag, rest.isEmpty ? next("-\(letter)") : String(rest))
            return
        }
    }

    private mutating func next(_ flag: String) throws(CommandError) -> String {
        guard index < arguments.count else { throw usage("\(flag) needs a value") }
        index += 1
        return arguments[index - 1]
    }

    private mutating func add(_ flag: Flag, _ value: String) throws(CommandError) {
        guard flag.choices.isEmpty || flag.choices.contains(value) else {
            throw CommandError(
                "--\(flag.name): '\(value)' is none of its values",
                hint: "choose one of " + flag.choices.joined(separator: ", ")
            )
        }
        parsed.add(flag, value)
    }

    /// `--help` and `-h`, which every command takes.
    static let help = Flag("help", short: "h", help: "this help")

    private func flag(named name: Substring) throws(CommandError) -> Flag {
        let flags = parsed.command.flags + [Self.help]
        if let exact = flags.first(where: { $0.name == name }) { return exact }
        let beginning = name.isEmpty ? [] : flags.filter { $0.name.hasPrefix(name) }
        if beginning.count == 1 { return beginning[0] }
        if beginning.count > 1 {
            let names = beginning.map { "--" + $0.name }.joined(separator: ", ")
            throw CommandError("flag '--\(name)' is ambiguous", hint: "it could be \(names)")
        }
        let near = Spelling.nearest(String(name), among: flags.map(\.name))
        throw usage(
            "unknown flag '--\(name)' of 'intel \(parsed.command.name)'",
            near.map { "did you mean '--\($0)'? " } ?? ""
        )
    }

    private func usage(_ message: String, _ hint: String = "") -> CommandError {
        CommandError(message, hint: hint + "see 'intel help \(parsed.command.name)'")
    }
}
