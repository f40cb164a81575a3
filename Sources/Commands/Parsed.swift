internal import LinuxIO

/// What was typed, by the table; what it means is worked out by the command.
struct Parsed: Sendable {
    /// Whose flags these are.
    let command: Command
    /// The values of each flag in the order in which they came; a switch has empty ones.
    private(set) var values: [String: [String]] = [:]
    /// What is no flag.
    var operands: [String] = []
    /// Where the results go.
    var output = Descriptor.output

    init(command: Command) {
        self.command = command
    }

    mutating func add(_ flag: Flag, _ value: String) {
        values[flag.name, default: []].append(value)
    }

    /// Writes `text` to where the results go; a reader who has gone is success.
    @discardableResult
    func answer(_ text: String) throws(CommandError) -> Int32 {
        try calling { () throws(SystemError) in
            var output = Output(output)
            try output.append(text)
            try output.flush()
        }
        return ExitStatus.success
    }

    /// True if the flag was given.
    func has(_ flag: Flag) -> Bool {
        values[flag.name] != nil
    }

    /// The last value that was given.
    func value(_ flag: Flag) -> String? {
        values[flag.name]?.last
    }

    /// All values that were given.
    func all(_ flag: Flag) -> [String] {
        values[flag.name] ?? []
    }

    /// A whole number from 0 up; nil if the flag was not given.
    func number(_ flag: Flag) throws(CommandError) -> Int? {
        guard let text = value(flag) else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
            throw CommandError(
                "--\(flag.name): '\(text)' is not a number",
                hint: "give a whole number, such as 10"
            )
        }
        return number
    }

    /// A span of time in nanoseconds (`10s`, `1m30s`; a bare number is seconds); nil if not given.
    func duration(_ flag: Flag) throws(CommandError) -> UInt64? {
        guard let text = value(flag) else { return nil }
        guard let span = DurationText.parse(text), span >= 0 else {
            throw CommandError(
                "--\(flag.name): '\(text)' is not a span of time",
                hint: "give something like 500ms, 10s or 1m30s"
            )
        }
        return UInt64(span)
    }
}
