internal import Agent

/// `2 peers alive · 1,204 stored · 0 missing · 96 KB`.
enum LiveLine {
    static func text(_ figures: AgentFigures, bytes: Int64) -> String {
        var line =
            "\(grouped(UInt64(figures.alive))) \(figures.alive == 1 ? "peer" : "peers") alive"
            + " · \(grouped(figures.stored)) stored · \(grouped(figures.missing)) missing"
            + " · \(size(bytes))"
        if let failure = figures.failure { line += " · \(failure)" }
        return line
    }

    /// Digits in groups of three.
    static func grouped(_ number: UInt64) -> String {
        var digits = Array("\(number)")
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return String(digits)
    }

    /// A size in B, KB, MB or GB (powers of 1024).
    static func size(_ bytes: Int64) -> String {
        var value = bytes
        for unit in ["B", "KB", "MB"] {
            if value < 10_240 || (unit == "B" && value < 1024) { return "\(value) \(unit)" }
            value /= 1024
        }
        return "\(value) GB"
    }
}
