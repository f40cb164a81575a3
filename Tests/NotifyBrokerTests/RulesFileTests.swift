import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// The text of a rules file.
@Suite struct RulesFileTests {
    private static let directory = RulesFile.Directory(
        user: { $0 == "daemon" ? 2 : nil },
        group: { $0 == "adm" ? 4 : nil }
    )

    @Test func aFileIsRead() throws {
        let rules = try RulesFile.parse(
            """
            # comment

            reserve a.  daemon adm rwr---   # behind
            \treserve b. 10 20 rwrwr-\r
            claimed chan. adm rwrw--
            set name.one
            set name.two 0xffffffffffffffff
            """,
            Self.directory
        )
        let a = rules.verdict("a.x").access
        #expect(a.uid == 2 && a.gid == 4)
        #expect(a.owner == .all && a.group == .read && a.others == [])
        let b = rules.verdict("b.x").access
        #expect(b.uid == 10 && b.gid == 20 && b.others == .read)
        #expect(rules.verdict("chan.F.x").family == "chan.F")
        #expect(rules.verdict("chan.msg").family == nil)
        #expect(rules.pinned.map(\.name) == ["name.one", "name.two"])
        #expect(rules.pinned.map(\.state) == [0, .max])
        // The built-in rules stay.
        #expect(rules.verdict("intel.system.x").access.others == .read)
    }

    @Test(arguments: [
        ("reserve a. 0 0", 1, "expected 'reserve PREFIX UID GID rwrwrw'"),
        ("\nreserve a. nobdy 0 rwrwrw", 2, "no user 'nobdy'"),
        ("reserve a. 0 nogrp rwrwrw", 1, "no group 'nogrp'"),
        ("reserve a. 4294967296 0 rwrwrw", 1, "no user '4294967296'"),
        ("reserve a. -1 0 rwrwrw", 1, "no user '-1'"),
        ("reserve a. 0 0 rwrw", 1, "'rwrw' is no access: six letters, as rwr-r-"),
        ("reserve a. 0 0 wrwrwr", 1, "'wrwrwr' is no access: six letters, as rwr-r-"),
        ("#\n#\nset", 3, "expected 'set NAME [STATE]'"),
        ("set a 1 2", 1, "expected 'set NAME [STATE]'"),
        ("set a 18446744073709551616", 1, "'18446744073709551616' is no 64-bit number"),
        ("set a x", 1, "'x' is no 64-bit number"),
        ("set \(String(repeating: "n", count: 512))", 1, "a name has 511 bytes at the most"),
        ("claimed a. adm", 1, "expected 'claimed PREFIX GID rwrwrw'"),
        ("monitor a /etc/localtime", 1, "'monitor' is not supported"),
        ("quit", 1, "unknown rule 'quit'"),
    ])
    func aMistakeNamesItsLine(text: String, line: Int, reason: String) {
        #expect(throws: RulesFile.Mistake(line: line, reason: reason)) {
            _ = try RulesFile.parse(text, Self.directory)
        }
    }

    @Test func thereIsALimitOfRules() {
        let many = (0..<2000).map { "set n\($0)" }.joined(separator: "\n")
        #expect(throws: RulesFile.Mistake(line: 1024, reason: "more than 1024 rules")) {
            _ = try RulesFile.parse(many, Self.directory)
        }
    }

    @Test func aNameThatIsSetLivesAsLongAsTheBroker() throws {
        let rules = try RulesFile.parse("set kept 42", Self.directory)
        let bench = Bench(rules: rules)
        for _ in 0..<3 {
            let one = bench.connect()
            let info = bench.ask([.register(1, "kept")], from: one).first?.info
            #expect(info?.state == 42)
            bench.state.disconnect(one, now: 0)
        }
        #expect(bench.state.figures.names == 1)
    }
}
