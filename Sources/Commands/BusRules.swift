internal import LinuxIO
internal import NotifyBroker

/// The rules of a bus that a command hosts.
enum BusRules {
    /// Reads `--rules`, or the file of the system.
    ///
    /// A file that others could have written is ignored, with a line on standard error; one with a
    /// mistake ends the command, so that a typing error opens nothing.
    static func load(_ arguments: Parsed) throws(CommandError) -> AccessRules {
        do throws(RulesLoader.Failure) {
            return try RulesLoader.load(arguments.value(.rules))
        } catch {
            if error.isUntrusted {
                StandardError.line("intel: \(error), ignoring")
                return AccessRules()
            }
            throw CommandError("\(error)")
        }
    }
}
