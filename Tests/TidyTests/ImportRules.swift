/// Who may import what, and how it is written.
enum ImportRules {
    /// An import statement: the words before `import`, and the module.
    struct Import: Equatable {
        let modifiers: [String]
        let module: String
        let line: Int
    }

    static func imports(_ file: SourceText) -> [Import] {
        file.code.enumerated().compactMap { index, line in
            let words = line.split { $0 == " " }.map(String.init)
            guard let at = words.firstIndex(of: "import"), at + 1 < words.count else { return nil }
            // `import struct Module.Type` names a kind first.
            let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
            let name = kinds.contains(words[at + 1]) && at + 2 < words.count ? at + 2 : at + 1
            let module = words[name].prefix { $0 != "." }
            return Import(modifiers: Array(words[..<at]), module: String(module), line: index + 1)
        }
    }

    /// A room imports only what the law gives it, and says how far each import reaches.
    static func lawful(_ file: SourceText) -> [Finding] {
        guard file.isSwift, file.isSource, let target = file.target else { return [] }
        guard let allowed = Law.imports[target] else {
            let what = "target '\(target)' has no line in Law.swift and ARCHITECTURE.md"
            return [Finding(path: file.path, line: 1, what: what)]
        }
        return imports(file).flatMap { entry in
            var found: [Finding] = []
            if !allowed.contains(entry.module) {
                let what = "\(target) may not import \(entry.module)"
                found.append(Finding(path: file.path, line: entry.line, what: what))
            }
            if !entry.modifiers.contains("public"), !entry.modifiers.contains("internal") {
                let what = "say 'public import' or 'internal import'"
                found.append(Finding(path: file.path, line: entry.line, what: what))
            }
            return found
        }
    }

    /// A C module has one owner, which keeps it to itself.
    static func ownedC(_ file: SourceText) -> [Finding] {
        guard file.isSwift else { return [] }
        return imports(file).compactMap { entry in
            guard let owner = Law.owners[entry.module] else { return nil }
            let isShown = Law.contracts.contains(entry.module) && entry.modifiers == ["public"]
            let isOwners = file.isSource && file.target == owner
            if isOwners, isShown || entry.modifiers == ["internal"] { return nil }
            let what = "\(entry.module) is imported by \(owner) alone, as 'internal import'"
            return Finding(path: file.path, line: entry.line, what: what)
        }
    }

    /// Foundation costs megabytes and milliseconds; XCTest is a second test runner.
    static func unwanted(_ file: SourceText) -> [Finding] {
        guard file.isSwift else { return [] }
        return imports(file).compactMap { entry in
            guard entry.module == "Foundation" || entry.module == "XCTest" else { return nil }
            return Finding(
                path: file.path,
                line: entry.line,
                what: "'import \(entry.module)' is banned"
            )
        }
    }
}
