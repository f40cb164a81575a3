import Spool
import Testing

@testable import Commands

/// Rules for peers and kinds as they are typed.
@Suite struct KeepTextTests {
    private static let day: UInt64 = 86_400_000_000_000

    @Test(
        arguments: [
            ("com.vendor.* age=30d", "com.vendor.*", "*", 30 * day, nil, 0),
            ("*:order.[a-c]* records=9000", "*", "order.[a-c]*", nil, 9000, 0),
            ("  a:b   least=7,age=1h30m,records=7 ", "a", "b", 5_400_000_000_000, 7, 7),
            (#"a\:b:c:d age=2"#, #"a\:b"#, "c:d", 2_000_000_000, nil, 0),
        ] as [(String, String, String, UInt64?, UInt64?, UInt64)]
    )
    func taken(
        _ text: String,
        _ peer: String,
        _ kind: String,
        _ age: UInt64?,
        _ records: UInt64?,
        _ least: UInt64
    ) throws {
        let rule = try KeepText.parse(text)
        #expect(rule.peer.pattern == peer && rule.kind.pattern == kind)
        #expect(rule.age == age && rule.records == records && rule.least == least)
    }

    @Test func anEscapedColonIsPartOfTheName() throws {
        let rule = try KeepText.parse(#"a\:b:c least=1"#)
        #expect(rule.fits(peer: "a:b", kind: "c") && !rule.fits(peer: "a", kind: "b:c"))
    }

    @Test(arguments: [
        ("", "it has no bound"), ("com.vendor", "it has no bound"),
        ("a age=1d more", "'more' stands behind the bounds"), ("a age", "'age' is no bound"),
        ("a size=5", "'size' is no bound"), ("a age=", "'' is no age"),
        ("a age=0", "'0' is no age"), ("a age=soon", "'soon' is no age"),
        ("a records=0", "'0' is no number of records"),
        ("a records=-1", "'-1' is no number of records"),
        ("a least=1k", "'1k' is no number of records"),
        ("a least=99999999999999999999", "'99999999999999999999' is no number of records"),
        ("a age=1d,age=2d", "'age' is there twice"), ("a age=1d,", "'' is no bound"),
        (":b age=1d", "it names no peer"), ("a: age=1d", "it names no kind"),
        ("a records=5,least=6", "at most 5 records and at least 6 cannot both be kept"),
    ])
    func refused(_ text: String, _ cause: String) {
        let error = #expect(throws: KeepText.Fault.self) { _ = try KeepText.parse(text) }
        #expect(error?.cause == cause && error?.hint.isEmpty == false)
    }

    @Test func flagsOutdoTheEnvironmentWhoseRulesAreApartBySemicolons() throws {
        func rules(_ arguments: [String], _ variable: String?) throws -> RetentionRules {
            let parsed = try ArgumentParser.parse(AgentCommand.definition, arguments)
            return try RetentionFlags.rules(parsed) { $0 == "INTEL_KEEP" ? variable : nil }
        }
        let variable = "a:b age=1d; c records=5 ;\n"
        #expect(try rules([], variable).keeps.map(\.peer.pattern) == ["a", "c"])
        let given = try rules(["--keep", "x least=1", "--keep=y age=2d"], variable)
        #expect(given.keeps.map(\.peer.pattern) == ["x", "y"])
        #expect(try rules([], nil).keeps.isEmpty && rules([], " ; ").keeps.isEmpty)
        var error = #expect(throws: CommandError.self) { _ = try rules([], "a age=1d;b") }
        #expect(error?.message == "INTEL_KEEP 'b': it has no bound")
        error = #expect(throws: CommandError.self) { _ = try rules(["--keep", "a x=1"], nil) }
        #expect(error?.message == "--keep 'a x=1': 'x' is no bound")
        #expect(error?.hint == "the bounds are age, records and least")
    }
}
