/// `intel bus`: the broker alone, as its own service.
enum BusCommand {
    static let definition = Command(
        "bus",
        summary: "host the bus alone, as its own service",
        flags: [.bus],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("the bus is not in this build")
    }
}
