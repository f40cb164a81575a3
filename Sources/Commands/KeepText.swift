internal import Spool

/// A rule for some peers and kinds as people write it:
/// `com.vendor.*:order.* age=30d,records=100000,least=1000`.
///
/// `:` before the kind, and each bound but one, may be left out. A `:` in a name is written `\:`.
enum KeepText {
    /// Why a text is no rule: what is wrong with it, and what to write instead.
    struct Fault: Error {
        var cause: String
        var hint: String
    }

    private static let form = "write PEER[:KIND] age=30d,records=100000,least=1000"

    /// Reads a rule.
    static func parse(_ text: String) throws(Fault) -> KeepRule {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2 else {
            let cause =
                words.count < 2 ? "it has no bound" : "'\(words[2])' stands behind the bounds"
            throw Fault(cause: cause, hint: form)
        }
        var rule = try names(words[0])
        var given: Set<Substring> = []
        for part in words[1].split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else {
                throw Fault(cause: "'\(part)' is no bound", hint: form)
            }
            guard given.insert(pair[0]).inserted else {
                throw Fault(cause: "'\(pair[0])' is there twice", hint: "leave one of them out")
            }
            try set(pair[0], pair[1], &rule)
        }
        if let most = rule.records, most < rule.least {
            throw Fault(
                cause: "at most \(most) records and at least \(rule.least) cannot both be kept",
                hint: "give 'least' a number up to that of 'records'"
            )
        }
        return rule
    }

    private static func set(
        _ name: Substring,
        _ value: Substring,
        _ rule: inout KeepRule
    ) throws(Fault) {
        switch name {
        case "age":
            guard let span = DurationText.parse(value), span > 0 else {
                throw Fault(
                    cause: "'\(value)' is no age",
                    hint: "give something like 12h or 30d"
                )
            }
            rule.age = UInt64(span)
        case "records": rule.records = try number(name, value)
        case "least": rule.least = try number(name, value)
        default:
            throw Fault(
                cause: "'\(name)' is no bound",
                hint: "the bounds are age, records and least"
            )
        }
    }

    private static func number(_ name: Substring, _ value: Substring) throws(Fault) -> UInt64 {
        let isNumber = value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = UInt64(value), number > 0 else {
            throw Fault(
                cause: "'\(value)' is no number of records",
                hint: "give a whole number from 1, such as \(name)=1000"
            )
        }
        return number
    }

    /// The globs of peer and kind.
    private static func names(_ text: Substring) throws(Fault) -> KeepRule {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if character == ":", !isEscaped, parts.count == 1 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        if parts.contains("") {
            throw Fault(
                cause: "it names no \(parts[0].isEmpty ? "peer" : "kind")",
                hint: "'*' stands for all of them"
            )
        }
        return KeepRule(peer: Glob(parts[0]), kind: Glob(parts.count == 2 ? parts[1] : "*"))
    }
}
