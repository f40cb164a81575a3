import Glibc

/// What manual pages, docs/complaints.md and docs/traps.md say, and what they are to say.
enum PageRules {
    /// The functions that a header declares: `notify_` and what comes before a parenthesis, where
    /// the line begins with a type.
    static func calls(_ header: String) -> [String] {
        header.split(separator: "\n").compactMap { line in
            let types = ["uint32_t ", "uint64_t ", "bool ", "void "]
            guard let type = types.first(where: line.hasPrefix) else { return nil }
            let rest = line.dropFirst(type.count)
            guard rest.hasPrefix("notify_"), let end = rest.firstIndex(of: "(") else { return nil }
            return String(rest[..<end])
        }
    }

    /// The options that a parser knows: string literals of `case` lines that begin with a dash.
    static func options(_ parser: String) -> Set<String> {
        var found: Set<String> = []
        for line in parser.split(separator: "\n") {
            let code = line.drop { $0 == " " }
            guard code.hasPrefix("case \"-") else { continue }
            let pieces = code.split(separator: "\"", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() where index % 2 == 1 && piece.hasPrefix("-") {
                found.insert(String(piece))
            }
        }
        return found
    }

    /// The options that a page lists: the words of `.It Fl` that are flags.
    static func toldOptions(_ page: String) -> Set<String> {
        var found: Set<String> = []
        for line in page.split(separator: "\n") where line.hasPrefix(".It Fl") {
            var isFlag = false
            for word in line.split(separator: " ").dropFirst() {
                switch word {
                case "Fl": isFlag = true
                case "Ar", "Oo", "Oc", "Op": isFlag = false
                case ",": continue
                default: if isFlag { found.insert("-" + word) }
                }
            }
        }
        return found
    }

    struct NamedTest: Equatable {
        let file: String
        let name: String
    }

    /// The numbered items of docs/complaints.md, with the tests that each names: a path in a code
    /// span, and quoted names behind it.
    static func complaints(_ text: String) -> [(number: Int, tests: [NamedTest])] {
        var items: [(number: Int, text: String)] = []
        for line in text.split(separator: "\n") {
            if let dot = line.firstIndex(of: "."), let number = Int(line[..<dot]) {
                items.append((number, String(line[line.index(after: dot)...])))
            } else if line.hasPrefix(" ") || !line.hasPrefix("Not answered"), !items.isEmpty {
                items[items.count - 1].text += " " + line.drop { $0 == " " }
            } else if !items.isEmpty {
                break
            }
        }
        return items.map { ($0.number, tests($0.text)) }
    }

    /// The rows of docs/traps.md, `trap 1` or `case 1`, with the tests that each names.
    static func traps(_ text: String) -> [(name: String, tests: [NamedTest])] {
        text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", maxSplits: 1)
            guard line.hasPrefix("| trap ") || line.hasPrefix("| case "), cells.count == 2 else {
                return nil
            }
            return (cells[0].split(separator: " ").joined(separator: " "), tests(String(cells[1])))
        }
    }

    private static func tests(_ text: String) -> [NamedTest] {
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        var found: [NamedTest] = []
        for (index, piece) in pieces.enumerated() where index % 2 == 1 {
            guard piece.hasPrefix("Tests/"), index + 1 < pieces.count else { continue }
            let quoted = pieces[index + 1].split(separator: "\"", omittingEmptySubsequences: false)
            for (place, name) in quoted.enumerated() where place % 2 == 1 {
                found.append(NamedTest(file: String(piece), name: String(name)))
            }
        }
        return found
    }

    static var hasMandoc: Bool { access("/usr/bin/mandoc", X_OK) == 0 }

    /// What a command writes.
    static func output(_ command: String) -> String {
        guard let pipe = popen(command, "r") else { return "popen failed" }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&chunk, 1, chunk.count, pipe)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
