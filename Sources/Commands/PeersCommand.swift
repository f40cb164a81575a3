/// `intel peers`.
enum PeersCommand {
    static let definition = Command("peers", summary: "peers", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
