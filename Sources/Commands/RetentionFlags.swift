internal import LinuxIO
internal import Spool

/// How much is kept, as flags of `intel agent` and `intel spool prune`; each also as a variable of
/// the environment, which a flag outdoes.
enum RetentionFlags {
    static let age = Flag(
        "keep-age",
        "TIME",
        help: "remove records that came longer ago (30d); default: no bound"
    )
    static let size = Flag(
        "keep-size",
        "SIZE",
        help: "the spool's bytes at the most (2G); default: a tenth of the disk, 64M to 4G"
    )
    static let records = Flag(
        "keep-records",
        "N",
        help: "records at the most; default: no bound"
    )
    static let free = Flag(
        "keep-free",
        "SIZE",
        help: "what stays free on the disk; default: 64M, of a small one an eighth"
    )
    static let all = [age, size, records, free]

    /// The rules that flags and environment give.
    static func rules(
        _ arguments: Parsed,
        environment: (String) -> String? = { Environment[$0] }
    ) throws(CommandError) -> RetentionRules {
        var rules = RetentionRules()
        func text(_ flag: Flag) -> String? {
            let variable = flag.name.uppercased().map { $0 == "-" ? "_" : $0 }
            return arguments.value(flag) ?? environment("INTEL_" + String(variable))
        }
        if let given = text(age) {
            guard let span = DurationText.parse(given), span > 0 else {
                throw wrong(age, given, "give something like 12h or 30d")
            }
            rules.age = UInt64(span)
        }
        if let given = text(size) {
            guard let bytes = ByteText.parse(given), bytes > 0 else {
                throw wrong(size, given, "give something like 500M or 2G")
            }
            rules.bytes = bytes
        }
        if let given = text(records) {
            guard let count = UInt64(given), count > 0 else {
                throw wrong(records, given, "give a whole number, such as 1000000")
            }
            rules.records = count
        }
        if let given = text(free) {
            guard let bytes = ByteText.parse(given) else {
                throw wrong(free, given, "give something like 500M or 2G")
            }
            rules.free = bytes
        }
        return rules
    }

    private static func wrong(_ flag: Flag, _ given: String, _ hint: String) -> CommandError {
        CommandError("--\(flag.name): '\(given)' is not what it takes", hint: hint)
    }
}
