/// `intel query`.
enum QueryCommand {
    static let definition = Command("query", summary: "query", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
