/// `intel send [FILE…]`: a peer that sends lines.
enum SendCommand {
    static let identifier = Flag("as", "IDENTIFIER", help: "who sends (intel.send)")
    static let kind = Flag("kind", "KIND", help: "what sort of records (line)")
    static let level = Flag("level", "LEVEL", help: "their level, emerg to debug (info)")
    static let format = Flag(
        "format",
        "FORMAT",
        choices: ["auto", "text", "json"],
        help: "what a line is: text, json, or auto (json where it is an object)"
    )
    static let noWait = Flag("no-wait", help: "do not wait until the lines are stored")
    static let timeout = Flag("timeout", "TIME", help: "wait that long at the most (30s)")

    static let definition = Command(
        "send",
        summary: "send lines of stdin or files as records",
        operands: "[FILE…]",
        operandsMax: .max,
        flags: [identifier, kind, level, format, noWait, timeout, .bus, .channel],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("sending is not in this build")
    }
}
