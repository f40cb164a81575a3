import Testing

/// The rules on the tree itself: each failure begins with `file:line:`.
@Suite struct TreeTests {
    @Test func theTreeIsRead() {
        #expect(SourceTree.files.count > 30, "only \(SourceTree.files.count) files")
    }

    @Test(arguments: [
        SizeRules.longLines, SizeRules.longFunctions, SizeRules.longFile, BannedRules.banned,
        ImportRules.lawful, ImportRules.ownedC, ImportRules.unwanted,
    ])
    func holds(rule: @Sendable (SourceText) -> [Finding]) {
        for finding in SourceTree.files.flatMap(rule) {
            Issue.record(Comment(rawValue: finding.description))
        }
    }

    @Test(arguments: ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/complaints.md"])
    func namesOnlyPathsThatExist(document: String) throws {
        let text = try #require(SourceTree.read(document))
        let found = DocumentRules.missing(document, text, exists: SourceTree.exists)
        for finding in found { Issue.record(Comment(rawValue: finding.description)) }
    }

    @Test func theLawStandsInTheArchitecture() throws {
        let text = try #require(SourceTree.read("ARCHITECTURE.md"))
        let written = DocumentRules.law(text)
        for room in Set(written.keys).union(Law.imports.keys).sorted() {
            let modules = written[room]?.sorted()
            #expect(modules == Law.imports[room]?.sorted(), "ARCHITECTURE.md, The law: \(room)")
        }
    }

    @Test func everyFolderHasItsLine() {
        let rooms = Set(Law.imports.keys).union(Law.owners.keys)
        for name in SourceTree.names("Sources") {
            #expect(rooms.contains(name), "Sources/\(name) has no line in Law.swift")
        }
        for name in rooms {
            #expect(SourceTree.exists("Sources/\(name)"), "Law.swift names '\(name)'")
        }
    }
}
