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
    static let keep = Flag(
        "keep",
        "RULE",
        repeats: true,
        help: "of these: 'PEER[:KIND] age=30d,records=9000,least=100'; the first that fits counts"
    )
    static let all = [age, size, records, free, keep]
    /// Stands between two rules of the environment.
    private static let separator: Character = ";"

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
        rules.keeps = try keeps(arguments, environment("INTEL_KEEP"))
        return rules
    }

    /// The rules for some peers and kinds, in their order.
    private static func keeps(
        _ arguments: Parsed,
        _ variable: String?
    ) throws(CommandError) -> [KeepRule] {
        let isGiven = arguments.has(keep)
        let texts = isGiven ? arguments.all(keep) : variable.map(split) ?? []
        var found: [KeepRule] = []
        for text in texts {
            do throws(KeepText.Fault) {
                found.append(try KeepText.parse(text))
            } catch {
                let name = isGiven ? "--keep" : "INTEL_KEEP"
                throw CommandError("\(name) '\(text)': \(error.cause)", hint: error.hint)
            }
        }
        return found
    }

    private static func split(_ text: String) -> [String] {
        text.split(separator: separator).map(String.init).filter { rule in
            rule.contains { $0 != " " && $0 != "\t" && $0 != "\n" }
        }
    }

    private static func wrong(_ flag: Flag, _ given: String, _ hint: String) -> CommandError {
        CommandError("--\(flag.name): '\(given)' is not what it takes", hint: hint)
    }
}
