internal import Agent

/// `2 peers alive · 1,204 stored · 0 missing · 96 KB`.
enum LiveLine {
    static func text(_ figures: AgentFigures, bytes: Int64) -> String {
        let grouped = FigureText.grouped
        var line =
            "\(grouped(UInt64(figures.alive))) \(figures.alive == 1 ? "peer" : "peers") alive"
            + " · \(grouped(figures.stored)) stored · \(grouped(figures.missing)) missing"
            + " · \(FigureText.bytes(UInt64(clamping: bytes)))"
        if let failure = figures.failure { line += " · \(failure)" }
        return line
    }
}
