import Glibc
import Testing

/// The manual pages, docs/complaints.md and docs/traps.md against the code.
@Suite struct PageTests {
    @Test func everyCallOfTheHeaderHasItsPage() throws {
        let header = try #require(SourceTree.read("Sources/CNotify/include/notify.h"))
        let page = try #require(SourceTree.read("man/notify.3"))
        let calls = PageRules.calls(header)
        #expect(calls.count >= 23, "\(calls)")
        for call in calls {
            #expect(page.contains("\n.Nm \(call)"), "notify.3 does not name \(call)")
            let isShown = page.contains("\n.Fn \(call) \"") || page.contains("\n.Fn \(call) void")
            #expect(isShown || page.contains("\n.Fo \(call)\n"), "no synopsis of \(call)")
            let alias = SourceTree.read("man/\(call).3")
            #expect(alias == ".so man3/notify.3\n", "man/\(call).3 does not lead to notify.3")
        }
        let pages = SourceTree.names("man").filter { $0.hasPrefix("notify_") }
        #expect(Set(pages) == Set(calls.map { $0 + ".3" }))
    }

    @Test func everyNumberOfTheHeaderIsOnThePage() throws {
        let header = try #require(SourceTree.read("Sources/CNotify/include/notify.h"))
        let page = try #require(SourceTree.read("man/notify.3"))
        let names = header.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            return words.count > 2 && words[0] == "#define" ? String(words[1]) : nil
        }
        #expect(names.count > 25)
        for name in names { #expect(page.contains(name), "notify.3 does not name \(name)") }
    }

    @Test func everyOptionHasItsPlace() throws {
        let parser = try #require(SourceTree.read("Sources/Commands/NotifyScript.swift"))
        let page = try #require(SourceTree.read("man/intel-notify.1"))
        let options = PageRules.options(parser)
        #expect(options.count >= 20, "\(options)")
        let told = PageRules.toldOptions(page)
        for option in options {
            #expect(told.contains(option), "intel-notify.1 does not tell of \(option)")
        }
        // -N stands for a number.
        for option in told.subtracting(options).subtracting(["-N", "-1", "-5"]) {
            Issue.record("intel-notify.1 tells of \(option), which is none")
        }
    }

    @Test(.enabled(if: PageRules.hasMandoc, "mandoc is not installed: pages are NOT CHECKED"))
    func thePagesAreWellFormed() {
        for name in SourceTree.names("man") where !name.hasPrefix("notify_") {
            let page = SourceTree.root + "/man/" + name
            let said = PageRules.output("mandoc -Tlint -W warning '\(page)' 2>&1")
            #expect(said == "")
        }
    }

    @Test func everyComplaintNamesTestsThatExist() throws {
        let text = try #require(SourceTree.read("docs/complaints.md"))
        let found = PageRules.complaints(text)
        #expect(found.map(\.number) == Array(1...18))
        for complaint in found {
            #expect(!complaint.tests.isEmpty, "complaint \(complaint.number) names no test")
            for test in complaint.tests { expectThere(test, "\(complaint.number)") }
        }
    }

    private func expectThere(_ test: PageRules.NamedTest, _ place: String) {
        let source = SourceTree.read(test.file) ?? ""
        let isThere =
            source.contains("\"\(test.name)\"") || source.contains("func \(test.name)(")
        #expect(isThere, "\(place): '\(test.name)' is not in \(test.file)")
    }

    @Test func everyTrapNamesTestsThatExist() throws {
        let text = try #require(SourceTree.read("docs/traps.md"))
        let found = PageRules.traps(text)
        let cases = [1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 14, 16, 17, 19, 20, 21, 31, 32]
        #expect(found.map(\.name) == (1...17).map { "trap \($0)" } + cases.map { "case \($0)" })
        for trap in found {
            #expect(!trap.tests.isEmpty, "\(trap.name) names no test")
            for test in trap.tests { expectThere(test, trap.name) }
        }
    }

    @Test func theRulesFindWhatIsMissing() {
        let header = "uint32_t notify_a(int x);\n/* notify_b( */\nvoid notify_c(void);\n"
        #expect(PageRules.calls(header) == ["notify_a", "notify_c"])
        #expect(PageRules.options("case \"-h\", \"--help\": x\n") == ["-h", "--help"])
        #expect(PageRules.toldOptions(".It Fl a , b Ar c\n.It Fl -x\n") == ["-a", "-b", "--x"])
        let text = "1. **A** `Tests/A.swift`,\n   \"b\nc\"\n2. **B** none\n"
        let found = PageRules.complaints(text)
        #expect(found.map(\.number) == [1, 2])
        #expect(found[0].tests == [.init(file: "Tests/A.swift", name: "b c")])
        #expect(found[1].tests.isEmpty)
        let row = "| | x |\n| trap 3 | A `b`. | `Tests/A.swift`, \"b c\"; `Tests/B.swift`, \"d\" |"
        let traps = PageRules.traps(row)
        #expect(traps.map(\.name) == ["trap 3"])
        #expect(traps[0].tests.map(\.name) == ["b c", "d"])
    }
}
