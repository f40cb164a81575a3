import Testing

@testable import Commands

/// The line of `intel notify`: notifyutil's grammar, and what is added to it.
@Suite struct NotifyScriptTests {
    private func steps(_ line: String) throws -> [NotifyScript.Step] {
        try NotifyScript(line.split(separator: " ").map(String.init)).steps
    }

    @Test func stepsFromLeftToRight() throws {
        #expect(
            try steps("-w foo -s foo 123 -g foo -p foo") == [
                .watch("foo", count: nil, delivery: .dispatch, since: nil), .set("foo", 123),
                .get("foo"), .post("foo"),
            ]
        )
    }

    @Test func deliveryHoldsForWhatFollows() throws {
        #expect(
            try steps("-check -1 a -signal 10 -5 b -sig -w c -file -w d -port -w e") == [
                .watch("a", count: 1, delivery: .check, since: nil),
                .watch("b", count: 5, delivery: .signal(10), since: nil),
                .watch("c", count: nil, delivery: .signal(1), since: nil),
                .watch("d", count: nil, delivery: .file, since: nil),
                .watch("e", count: nil, delivery: .dispatch, since: nil),
            ]
        )
    }

    @Test func statesAreUnsigned64Bits() throws {
        #expect(try steps("-s a 18446744073709551615") == [.set("a", .max)])
        #expect(try steps("-s a 0xFFFFFFFFFFFFFFFF") == [.set("a", .max)])
        #expect(try steps("-s a -1") == [.set("a", .max)])
        #expect(try steps("-s a 9223372036854775808") == [.set("a", 1 << 63)])
    }

    @Test func options() throws {
        let script = try NotifyScript(
            [
                "-q", "-v", "--json", "-z", "20", "--bus", "/b", "-M", "-R", "--since", "7", "-w",
                "n",
            ]
        )
        #expect(script.isQuiet && script.isVerbose && script.isJSON && script.interval == 20)
        #expect(script.bus == "/b")
        #expect(script.steps == [.watch("n", count: nil, delivery: .dispatch, since: 7)])
        #expect(try steps("-l -l com. --who") == [.list(""), .list("com."), .who])
        #expect(try NotifyScript(["-h"]).wantsHelp)
    }

    @Test(
        "a wrong line is refused whole, before anything is done",
        arguments: [
            "", "-q", "-p", "-s a", "-s a x", "-s a 0x", "-s a 18446744073709551616", "-s a 1.5",
            "-z 0 -p a", "-z x -p a", "-0 a", "-x a", "foo", "-p a -w", "-p a bad",
            "--since -1 -w a",
        ]
    )
    func wrong(line: String) {
        #expect(throws: CommandError.self) { try self.steps(line) }
    }
}
