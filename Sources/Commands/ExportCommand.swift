/// `intel export`.
enum ExportCommand {
    static let definition = Command("export", summary: "export", run: run)

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        throw CommandError("not in this build")
    }
}
