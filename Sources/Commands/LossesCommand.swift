/// `intel losses`.
enum LossesCommand {
    static let definition = Command("losses", summary: "losses", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
