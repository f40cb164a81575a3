/// `intel host`.
enum HostCommand {
    static let definition = Command("host", summary: "host", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
