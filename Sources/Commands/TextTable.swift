/// Rows with aligned columns, two blanks between them; numbers to the right.
///
/// Cells are escaped.
struct TextTable {
    private let headers: [String]
    private let rightAligned: Set<Int>
    private var rows: [[String]] = []

    /// A table; a header that begins with `>` makes its column stand to the right.
    init(_ headers: [String]) {
        rightAligned = Set(headers.indices.filter { headers[$0].hasPrefix(">") })
        self.headers = headers.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
    }

    /// Adds a row.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map(TerminalText.escaped))
    }

    /// The table as lines, each with its end.
    var text: String {
        let all = [headers] + rows
        let widths = headers.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        var out = ""
        for row in all {
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                if column > 0 { line += "  " }
                line += rightAligned.contains(column) ? blanks + cell : cell + blanks
            }
            while line.last == " " { line.removeLast() }
            out += line + "\n"
        }
        return out
    }
}
