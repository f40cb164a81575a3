/// `intel agent`: the collector, in the foreground.
enum AgentCommand {
    static let busMode = Flag(
        "bus-mode",
        "MODE",
        choices: ["auto", "embedded", "external"],
        help: "host the bus: auto (if nobody answers), embedded, external"
    )
    static let durability = Flag(
        "durability",
        "MODE",
        choices: ["full", "normal"],
        help: "full: every commit survives a power cut; normal: all but the last"
    )
    static let live = Flag("live", help: "a line on stderr that counts along")

    static let definition = Command(
        "agent",
        summary: "collect: take what the peers send and keep it in the spool",
        flags: [.bus, .spool, .channel, busMode, durability, live],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("the agent is not in this build")
    }
}
