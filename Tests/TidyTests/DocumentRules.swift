/// What the documents say about the tree.
enum DocumentRules {
    /// Paths in code spans and links of a Markdown text, with the line where each stands.
    ///
    /// A span is a path if it begins with one of our folders, or names a file of the root.
    static func paths(_ text: String) -> [(path: String, line: Int)] {
        var found: [(path: String, line: Int)] = []
        var isFenced = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") { isFenced.toggle() }
            if isFenced { continue }
            let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
            for (position, piece) in pieces.enumerated() {
                if position % 2 == 1, isPath(piece) {
                    found.append((trimmed(piece), index + 1))
                } else if position % 2 == 0 {
                    found += links(piece).map { ($0, index + 1) }
                }
            }
        }
        return found
    }

    static func missing(_ document: String, _ text: String, exists: (String) -> Bool) -> [Finding] {
        paths(text).compactMap { path, line in
            guard !exists(path) else { return nil }
            return Finding(path: document, line: line, what: "there is no '\(path)'")
        }
    }

    /// The table under the heading "The law": room, then what it may import.
    static func law(_ text: String) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        var isInside = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") { isInside = line.hasSuffix("The law") }
            let cells = line.split(separator: "|").map(plain)
            guard isInside, line.hasPrefix("|"), cells.count == 2 else { continue }
            if cells[0] == "room" || cells[0].hasPrefix("-") { continue }
            let modules = cells[1].split(separator: ",").map(plain).filter { $0 != "nothing" }
            found[cells[0]] = Set(modules)
        }
        return found
    }

    private static func plain(_ text: some StringProtocol) -> String {
        String(text.filter { $0 != " " && $0 != "`" })
    }

    private static func isPath(_ text: Substring) -> Bool {
        let folders = [
            "Sources/", "Tests/", "Benchmarks/", "Fuzz/", "packaging/", "docs/", "etc/", "man/",
            ".ci/", "Examples/",
        ]
        let files: Set<String> = ["Makefile", "LICENSE", "Package.swift", ".swift-format"]
        if text.contains(where: { " *<>$".contains($0) }) { return false }
        return folders.contains { text.hasPrefix($0) } || files.contains(String(text))
            || (text.hasSuffix(".md") && !text.contains("/"))
    }

    private static func links(_ text: Substring) -> [String] {
        var found: [String] = []
        var rest = text
        while let start = rest.firstRange(of: "](") {
            rest = rest[start.upperBound...]
            guard let end = rest.firstIndex(of: ")") else { break }
            let target = rest[..<end].prefix { $0 != "#" }
            if !target.isEmpty, !target.contains("://") { found.append(String(target)) }
        }
        return found
    }

    private static func trimmed(_ text: Substring) -> String {
        text.hasSuffix("/") ? String(text.dropLast()) : String(text)
    }
}
