internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel status`: the agent and its spool in figures.
enum StatusCommand {
    static let output = Flag(
        "output",
        short: "o",
        "FORMAT",
        choices: ["text", "json", "prometheus"],
        help: "text, json, or prometheus (text exposition format)"
    )

    static let definition = Command(
        "status",
        summary: "the agent, its spool and the limits",
        flags: [output, .utc, .spool],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        let reader = try SpoolDoor.open(folder)
        let status = Status(
            folder: folder,
            agent: AgentAnswer(spool: folder),
            summary: try reading { () throws(SpoolError) in try reader.summary() },
            peers: try reading { () throws(SpoolError) in try reader.peers() }
        )
        switch arguments.value(output) {
        case "json": return try arguments.answer(status.json + "\n")
        case "prometheus": return try arguments.answer(StatusMetrics(status).text)
        default: return try arguments.answer(status.text(arguments.has(.utc) ? .utc : .local))
        }
    }
}
