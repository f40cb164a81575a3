/// How long things may be.
enum SizeRules {
    static let lineMax = 100
    static let functionMax = 60
    static let fileMax = 400
    /// `main.swift` stays below this.
    static let mainLines = 20

    static func longLines(_ file: SourceText) -> [Finding] {
        file.lines.enumerated().compactMap { index, line in
            guard line.count > lineMax else { return nil }
            return Finding(
                path: file.path,
                line: index + 1,
                what: "\(line.count) columns, at most \(lineMax)"
            )
        }
    }

    static func longFile(_ file: SourceText) -> [Finding] {
        let isMain = file.path.hasSuffix("/main.swift")
        let limit = isMain ? mainLines - 1 : fileMax
        guard file.lines.count > limit else { return [] }
        let what = "\(file.lines.count) lines, at most \(limit)"
        return [Finding(path: file.path, line: limit + 1, what: what)]
    }

    static func longFunctions(_ file: SourceText) -> [Finding] {
        bodies(file).compactMap { body in
            guard body.lines > functionMax else { return nil }
            return Finding(
                path: file.path,
                line: body.start,
                what: "a body of \(body.lines) lines, at most \(functionMax)"
            )
        }
    }

    /// A body: the line of its head, counted from 1, and the lines between its braces.
    struct Body: Equatable {
        let start: Int
        let lines: Int
    }

    static func bodies(_ file: SourceText) -> [Body] {
        file.isSwift ? swiftBodies(file) : cBodies(file)
    }

    /// C as we write it: a function begins and ends in the first column.
    private static func cBodies(_ file: SourceText) -> [Body] {
        var found: [Body] = []
        var start: Int?
        for (index, line) in file.code.enumerated() {
            if line.hasSuffix("{"), line.contains("("), line.first?.isLetter == true {
                start = index
            } else if line == "}", let from = start {
                found.append(Body(start: from + 1, lines: index - from - 1))
                start = nil
            }
        }
        return found
    }

    private static func swiftBodies(_ file: SourceText) -> [Body] {
        let code = Array(file.code.joined(separator: "\n").utf8)
        let heads: Set<String> = ["func", "init", "deinit", "subscript", "var"]
        var line = 1
        let numbers = code.map { byte in
            defer { if byte == 0x0a { line += 1 } }
            return line
        }
        var found: [Body] = []
        for word in Words(code) where heads.contains(word.text) {
            if word.start > 0, code[word.start - 1] == UInt8(ascii: ".") { continue }
            guard let open = opening(code, after: word) else { continue }
            let close = closing(code, from: open)
            let span = numbers[close] - numbers[open]
            found.append(Body(start: numbers[word.start], lines: max(0, span - 1)))
        }
        return found
    }

    /// The brace that opens the body; nil for a requirement, a stored property or a call.
    private static func opening(_ code: [UInt8], after word: Words.Word) -> Int? {
        var depth = 0
        var index = word.end
        while index < code.count {
            switch code[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "{") where depth == 0: return index
            case UInt8(ascii: "}") where depth == 0: return nil
            case UInt8(ascii: "="), 0x0a:
                if word.text == "var", depth == 0 { return nil }
                if depth == 0, startsDeclaration(code, at: index + 1) { return nil }
            default: break
            }
            if depth < 0 { return nil }
            index += 1
        }
        return nil
    }

    /// True if another declaration begins on this line: the one before had no body.
    private static func startsDeclaration(_ code: [UInt8], at index: Int) -> Bool {
        guard index > 0, code[index - 1] == 0x0a else { return false }
        let line = code[index...].prefix { $0 != 0x0a }
        var words = Words(Array(line))
        guard let first = words.next() else { return false }
        let starts: Set<String> = [
            "func", "init", "var", "let", "static", "mutating", "public", "private", "internal",
            "fileprivate", "associatedtype", "subscript", "case", "struct", "enum", "class",
        ]
        return starts.contains(first.text)
    }

    private static func closing(_ code: [UInt8], from open: Int) -> Int {
        var depth = 0
        for index in open..<code.count {
            if code[index] == UInt8(ascii: "{") { depth += 1 }
            if code[index] == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { return index }
        }
        return code.count - 1
    }
}
