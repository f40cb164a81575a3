import Testing

/// Each rule on a text that breaks it and on one that does not: a rule that cannot fail is none.
@Suite struct RuleTests {
    private func source(_ text: String, in path: String = "Sources/Spool/A.swift") -> SourceText {
        SourceText(path: path, text: text)
    }

    @Test func masksCommentsAndStrings() {
        let file = source(
            """
            let a = "try! // no" // try!
            /* try! /* nested */ try! */ let b = #"try! " \\#(c("x")) try!"#
            let c = "\\(d["}"]) try!"; e()
            """
        )
        #expect(!file.code.joined().contains("try!"))
        #expect(file.code[0].hasPrefix("let a = \""))
        #expect(file.code[1].contains("let b = #\""))
        #expect(file.code[2].hasSuffix("\"; e()"))
        #expect(!file.code[2].contains("}"))
        #expect(zip(file.lines, file.code).allSatisfy { $0.utf8.count == $1.utf8.count })
    }

    @Test func masksLongStrings() {
        let quotes = "\"\"\""
        let file = source("let a = \(quotes)\n  try! \"x\" {\n  \(quotes)\nlet b = 1\n")
        #expect(file.code[1].allSatisfy { $0 == " " })
        #expect(file.code[3] == "let b = 1")
    }

    @Test func findsLongLines() {
        let long = String(repeating: "x", count: 101)
        let found = SizeRules.longLines(source("short\n\(long)\n"))
        #expect(found.map(\.description) == ["Sources/Spool/A.swift:2: 101 columns, at most 100"])
        #expect(SizeRules.longLines(source(String(repeating: "ü", count: 100))).isEmpty)
    }

    @Test func findsLongFiles() {
        let text = { String(repeating: "x\n", count: $0) }
        #expect(SizeRules.longFile(source(text(401))).count == 1)
        #expect(SizeRules.longFile(source(text(400))).isEmpty)
        let main = "Sources/intel/main.swift"
        #expect(SizeRules.longFile(source(text(20), in: main)).count == 1)
        #expect(SizeRules.longFile(source(text(19), in: main)).isEmpty)
    }

    @Test(arguments: ["func f(a: Int = { 1 }()) throws -> Int", "init()", "deinit", "var v: Int"])
    func findsLongFunctions(head: String) {
        let text = { count in
            "struct S {\n  \(head) {\n" + String(repeating: "  x\n", count: count) + "  }\n}\n"
        }
        #expect(SizeRules.longFunctions(source(text(61))).map(\.line) == [2])
        #expect(SizeRules.longFunctions(source(text(60))).isEmpty)
    }

    @Test func tellsBodiesFromRequirementsAndCalls() {
        let file = source(
            """
            protocol P {
                func a() -> Int
                var b: Int { get }
            }
            struct S: P {
                var b = 1
                let c = S.init(b: 2)
                func a() -> Int
                {
                    3
                }
            }
            """
        )
        #expect(SizeRules.bodies(file) == [.init(start: 3, lines: 0), .init(start: 8, lines: 1)])
    }

    @Test func findsLongFunctionsInC() {
        let text = "int f(void) {\n" + String(repeating: "  x;\n", count: 61) + "}\n"
        let file = source(text, in: "Sources/CLinux/A.c")
        #expect(SizeRules.longFunctions(file).map(\.line) == [1])
    }

    @Test(arguments: BannedRules.bans.map(\.text))
    func findsBannedConstructs(text: String) {
        let call = "a = \(text)"
        #expect(BannedRules.banned(source("let ok = 1\n\(call)\n")).map(\.line) == [2])
        #expect(BannedRules.banned(source("// \(call)\n\"\(text)\"\n")).isEmpty)
    }

    @Test func bansWholeWordsOnly() {
        #expect(BannedRules.banned(source("fingerprint(x); oversleep(2)\n")).isEmpty)
        #expect(BannedRules.banned(source("print(x)", in: "Sources/Commands/A.swift")).isEmpty)
        #expect(BannedRules.banned(source("try! a", in: "Tests/ATests/A.swift")).count == 1)
    }

    @Test(arguments: [
        ("internal import Agent", "Spool may not import Agent"),
        ("public import Foundation", "Spool may not import Foundation"),
        ("internal import FoundationEssentials", "Spool may not import FoundationEssentials"),
        ("internal import struct Glibc.stat", "Spool may not import Glibc"),
        ("import Basics", "say 'public import' or 'internal import'"),
    ])
    func findsUnlawfulImports(line: String, what: String) {
        #expect(ImportRules.lawful(source("\n" + line)).map(\.what) == [what])
        #expect(ImportRules.lawful(source("\n" + line)).map(\.line) == [2])
    }

    @Test func acceptsLawfulImports() {
        let file = source("public import Telemetry\ninternal import SQLite")
        #expect(ImportRules.lawful(file).isEmpty)
        #expect(ImportRules.lawful(source("import X", in: "Sources/New/A.swift")).count == 1)
    }

    @Test func keepsCModulesWithTheirOwner() {
        let owner = "Sources/SQLite/A.swift"
        #expect(ImportRules.ownedC(source("internal import CSQLite", in: owner)).isEmpty)
        #expect(ImportRules.ownedC(source("public import CSQLite", in: owner)).count == 1)
        #expect(ImportRules.ownedC(source("internal import CSQLite")).count == 1)
        #expect(ImportRules.ownedC(source("import CZstd", in: "Tests/A/A.swift")).count == 1)
    }

    @Test func findsUnwantedModules() {
        let tests = "Tests/SpoolTests/A.swift"
        #expect(ImportRules.unwanted(source("import XCTest", in: tests)).count == 1)
        #expect(ImportRules.unwanted(source("import Foundation", in: tests)).count == 1)
        #expect(ImportRules.unwanted(source("import Testing", in: tests)).isEmpty)
    }

    @Test func findsPathsThatAreGone() {
        let text = "see `Sources/Basics/` and\n`Sources/Gone.swift`, [x](GONE.md#a) `intel/x`\n"
        let found = DocumentRules.missing("A.md", text) { $0 == "Sources/Basics" }
        #expect(
            found.map(\.description) == [
                "A.md:2: there is no 'Sources/Gone.swift'", "A.md:2: there is no 'GONE.md'",
            ]
        )
    }

    @Test func readsTheLaw() {
        let table = "| room | may import |\n|---|---|\n| A | nothing |\n| B | `A`, C |\n"
        let text = "## The law\n\(table)# x\n| D | A |\n"
        #expect(DocumentRules.law(text) == ["A": [], "B": ["A", "C"]])
    }
}
