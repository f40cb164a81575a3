/// `intel status`.
enum StatusCommand {
    static let definition = Command("status", summary: "status", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
