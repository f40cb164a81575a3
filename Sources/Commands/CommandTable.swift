/// Every command, in the order of `intel help`.
///
/// A command is one file with a `definition`.
enum CommandTable {
    static let all: [Command] = [
        AgentCommand.definition,
        BusCommand.definition,
        HostCommand.definition,
        SendCommand.definition,
        PeersCommand.definition,
        QueryCommand.definition,
        SQLCommand.definition,
        ExportCommand.definition,
        LossesCommand.definition,
        StatusCommand.definition,
        SpoolCommand.definition,
        NotifyCommand.definition,
        HelpCommand.definition,
    ]

    /// The command of this name; that of two words for a part of `intel spool`.
    static func command(_ name: String) -> Command? {
        (all + SpoolCommand.parts).first { $0.name == name }
    }

    /// The command that arguments begin with, and how many words its name has.
    static func command(_ arguments: [String]) -> (command: Command, words: Int)? {
        for words in [2, 1] where arguments.count >= words {
            let name = arguments[..<words].joined(separator: " ")
            if let command = command(name) { return (command, words) }
        }
        return nil
    }
}

/// Flags that several commands share, so that each means the same everywhere.
extension Flag {
    static let bus = Flag("bus", "PATH", help: "socket of the bus (INTEL_BUS)")
    static let rules = Flag(
        "rules",
        "FILE",
        help: "who may use which names of the bus (/etc/intel/bus.rules)"
    )
    static let spool = Flag("spool", "DIR", help: "folder of the spool (INTEL_SPOOL)")
    static let channel = Flag(
        "channel",
        "NAME",
        help: "channel that the peers share (INTEL_CHANNEL; intel)"
    )
    static let since = Flag("since", short: "S", "TIME", help: "records from this time on")
    static let until = Flag("until", short: "U", "TIME", help: "records up to this time, inclusive")
    static let peer = Flag(
        "peer",
        "GLOB",
        repeats: true,
        help: "records of these peers; repeated: any of them"
    )
    static let kind = Flag(
        "kind",
        "GLOB",
        repeats: true,
        help: "records of these kinds; repeated: any of them"
    )
    static let priority = Flag(
        "priority",
        short: "p",
        "LEVEL[..LEVEL]",
        repeats: true,
        help: "this level or worse, or a range of levels"
    )
    static let grep = Flag(
        "grep",
        short: "g",
        "PATTERN",
        help: "payloads with this text; any case when it is all lower case"
    )
    static let word = Flag("word", short: "w", help: "with --grep: the text as a whole word")
    static let lines = Flag("lines", short: "n", "N|all", help: "the newest N that match")
    static let reverse = Flag("reverse", short: "r", help: "newest first")
    static let utc = Flag("utc", help: "times in UTC, also those of --since and --until")
    static let quiet = Flag("quiet", short: "q", help: "no notes on stderr")
    static let json = Flag("json", help: "the result as one JSON object")
    static let noPager = Flag("no-pager", help: "accepted; output is never paged")
    static let tableOutput = Flag(
        "output",
        short: "o",
        "FORMAT",
        choices: ["table", "json"],
        help: "table or json"
    )
}
