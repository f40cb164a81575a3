/// A source file as the rules see it: its lines as written, and the same with comments blanked and
/// the text of string literals blanked too, so that a rule on code finds code only.
struct SourceText {
    /// From the root of the checkout: `Sources/Basics/ByteReader.swift`.
    let path: String
    /// As written.
    let lines: [String]
    /// As written, comments and string contents replaced by blanks: same lines, same columns.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = Self.split(text)
        code = Self.split(String(decoding: Mask.blanked(Array(text.utf8)), as: UTF8.self))
    }

    /// The target a file belongs to: the folder below `Sources` or `Tests`; nil elsewhere.
    var target: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
        return String(parts[1])
    }

    var isSource: Bool { path.hasPrefix("Sources/") }
    var isSwift: Bool { path.hasSuffix(".swift") }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}

/// Something that breaks a rule, told so that an editor can jump to it.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}
