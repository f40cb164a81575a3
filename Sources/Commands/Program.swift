internal import Glibc
internal import LinuxIO

/// The program `intel`: finds the command, runs it, and turns what it throws into two lines of
/// stderr and an exit status.
public enum Program {
    /// The version that `intel --version` prints.
    public static let version = "0.1.0"

    /// Runs the command of this process's arguments and exits with its status.
    ///
    /// Main thread only.
    public static func main() -> Never {
        Descriptor.ignoreBrokenPipes()
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs the command that `arguments` (without the program's name) ask for.
    ///
    /// - Parameter output: the descriptor that gets the results; it stays open.
    /// - Returns: the exit status; what went wrong has been told on stderr.
    public static func run(_ arguments: [String], output: Int32 = 1) -> Int32 {
        do throws(CommandError) {
            return try dispatch(arguments, output)
        } catch {
            StandardError.line(error.description)
            return error.status
        }
    }

    private static func dispatch(
        _ arguments: [String],
        _ output: Int32
    ) throws(CommandError) -> Int32 {
        guard let name = arguments.first else {
            StandardError.line(HelpText.overview)
            return ExitStatus.failure
        }
        var overall = Parsed(command: HelpCommand.definition)
        overall.output = output
        switch name {
        case "--version", "-V": return try overall.answer("intel \(version)\n")
        case "--help", "-h": return try overall.answer(HelpText.overview + "\n")
        default: break
        }
        guard let (command, words) = CommandTable.command(arguments) else {
            let near = Spelling.nearest(name, among: CommandTable.all.map(\.name))
            let guess = near.map { "did you mean 'intel \($0)'? " } ?? ""
            throw CommandError("unknown command '\(name)'", hint: guess + "see 'intel help'")
        }
        let rest = Array(arguments.dropFirst(words))
        var parsed = try ArgumentParser.parse(command, rest)
        parsed.output = output
        if parsed.has(ArgumentParser.help) {
            return try parsed.answer(HelpText.command(command) + "\n")
        }
        return try command.run(parsed)
    }
}
