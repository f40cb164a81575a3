import Testing

@testable import Commands

private let sample = Command(
    "sample",
    summary: "a command of the tests",
    operands: "[FILE…]",
    operandsMax: 2,
    flags: [.lines, .reverse, .peer, .since, .quiet, .tableOutput, Flag("quick", help: "q")],
    run: { _ in 0 }
)

private func parse(_ arguments: [String]) throws -> Parsed {
    try ArgumentParser.parse(sample, arguments)
}

@Test func everyFormOfAValueIsTheSame() throws {
    for arguments in [
        ["--lines", "5"], ["--lines=5"], ["-n5"], ["-n", "5"], ["--li=5"], ["-rn5"], ["-rn", "5"],
        ["-n", "7", "-n", "5"],
    ] {
        let parsed = try parse(arguments)
        #expect(parsed.value(.lines) == "5", "\(arguments)")
        #expect(try parsed.number(.lines) == 5)
    }
}

@Test func bundlesRepeatsAndOperands() throws {
    let parsed = try parse(["-rq", "one", "--peer", "a*", "--peer=b", "-S", "-2h", "--", "-n"])
    #expect(parsed.has(.reverse) && parsed.has(.quiet))
    #expect(parsed.all(.peer) == ["a*", "b"])
    #expect(parsed.value(.since) == "-2h")
    #expect(parsed.operands == ["one", "-n"])
    #expect(!parsed.has(.lines))
}

@Test func emptyValuesAndASingleDash() throws {
    let parsed = try parse(["--peer=", "-"])
    #expect(parsed.all(.peer) == [""])
    #expect(parsed.operands == ["-"])
}

@Test(arguments: [
    (["--lin"], "--lines needs a value"),
    (["-n"], "-n needs a value"),
    (["--nonsense"], "unknown flag '--nonsense' of 'intel sample'"),
    (["-x"], "unknown flag '-x' of 'intel sample'"),
    (["--reverse=yes"], "--reverse takes no value"),
    (["--qui"], "flag '--qui' is ambiguous"),
    (["--=5"], "unknown flag '--' of 'intel sample'"),
    (["a", "b", "c"], "unexpected argument 'c' for 'intel sample'"),
    (["-o", "yaml"], "--output: 'yaml' is none of its values"),
])
func wrongUsageIsToldWithAHint(arguments: [String], message: String) {
    #expect {
        try parse(arguments)
    } throws: { error in
        guard let error = error as? CommandError else { return false }
        return error.message == message && error.hint != nil && error.status == 2
    }
}

@Test func nearFlagsAreOffered() {
    #expect {
        try parse(["--revers3"])
    } throws: { error in
        (error as? CommandError)?.hint?.contains("did you mean '--reverse'?") ?? false
    }
}

@Test func numbersAndSpansAreChecked() throws {
    for text in ["", "x", "-1", "1e3", "99999999999999999999"] {
        #expect(throws: CommandError.self) { try parse(["--lines", text]).number(.lines) }
    }
    #expect(try parse([]).number(.lines) == nil)
    #expect(try parse(["-S", "1m30s"]).duration(.since) == 90_000_000_000)
    #expect(throws: CommandError.self) { try parse(["-S", "soon"]).duration(.since) }
}

@Test func theTableIsSound() {
    let names = CommandTable.all.map(\.name)
    #expect(Set(names).count == names.count)
    for command in CommandTable.all {
        let flags = command.flags + [ArgumentParser.help]
        #expect(Set(flags.map(\.name)).count == flags.count, "\(command.name)")
        let letters = flags.compactMap(\.short)
        #expect(Set(letters).count == letters.count, "\(command.name)")
        for flag in flags { #expect(!flag.help.isEmpty && !flag.help.hasSuffix(".")) }
        let help = HelpText.command(command)
        #expect(flags.allSatisfy { help.contains("--" + $0.name) })
    }
}

@Test func errorsCannotReachTheTerminal() {
    let error = CommandError("unknown command '\u{1b}[2J\n'", hint: "see\u{9b}")
    #expect(error.description == "intel: unknown command '\\x1b[2J\\n'\n  see\\u009b")
}
