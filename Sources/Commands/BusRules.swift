internal import LinuxIO
internal import NotifyBroker
internal import NotifyClient

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

    /// Reads the same file again; nil, with a line on standard error, where the old rules stay.
    static func loadAgain(_ arguments: Parsed, for service: String) -> AccessRules? {
        do throws(RulesLoader.Failure) {
            let rules = try RulesLoader.load(arguments.value(.rules))
            StandardError.line("\(service): the rules are read again")
            return rules
        } catch {
            StandardError.line("\(service): \(error); the old rules stay")
            return nil
        }
    }

    /// Why a bus must not be hosted at `path`.
    static func check(place path: String) throws(CommandError) {
        guard let fault = BusPlace.fault(of: path) else { return }
        throw CommandError(
            "host bus '\(path)': \(fault)",
            hint: "remove that folder, or name another socket with --bus"
        )
    }
}
