internal import Basics
internal import LinuxIO
internal import SQLite

/// How the rows of a statement are written.
enum SQLFormat: String, CaseIterable {
    /// Aligned columns to read.
    case table
    /// Comma-separated, with a line of names (RFC 4180).
    case csv
    /// One JSON object a line; a payload stands in it as the JSON that it is.
    case json
}

/// Writes the rows of one statement after another.
struct SQLOutput: ~Copyable {
    /// Rows that a table looks at before it settles the widths of its columns: memory stays flat.
    static let tableRows = 1000

    private var output: Output
    private let format: SQLFormat
    private var names: [String] = []
    private var waiting: [[String]] = []
    private var widths: [Int] = []
    private var isNumber: [Bool] = []
    private var failure: SystemError?
    /// Rows written so far, of all statements.
    private(set) var count: UInt64 = 0

    /// Writes to `descriptor`, which stays open.
    init(_ format: SQLFormat, descriptor: Int32) {
        output = Output(descriptor)
        self.format = format
    }

    /// True once the reader has closed its end.
    var isClosed: Bool { output.isClosed }

    /// Begins a statement.
    mutating func begin(_ names: [String]) {
        self.names = names
        widths = []
        waiting = []
        isNumber = names.map { _ in true }
        if format == .csv { line(names.map(Self.csv).joined(separator: ",")) }
    }

    /// Writes a row; false if there is no use in going on.
    mutating func write(_ row: [SQLValue]) -> Bool {
        count += 1
        switch format {
        case .csv: line(row.map { Self.csv(Self.text($0)) }.joined(separator: ","))
        case .json:
            let object = Self.object(names, row)
            put { $0 += object + [0x0a] }
        case .table:
            if widths.isEmpty {
                for (index, value) in row.enumerated() where !Self.isNumber(value) {
                    isNumber[index] = false
                }
                waiting.append(row.map { TerminalText.escaped(Self.text($0)) })
                if waiting.count >= Self.tableRows { settle() }
            } else {
                tableLine(row.map { TerminalText.escaped(Self.text($0)) })
            }
        }
        return failure == nil && !output.isClosed
    }

    /// Ends a statement and writes out what waits.
    mutating func end() throws(CommandError) {
        if format == .table, !waiting.isEmpty { settle() }
        do throws(SystemError) {
            if let failure { throw failure }
            try output.flush()
        } catch {
            throw CommandError(error)
        }
    }

    /// Settles the widths by what has come, and writes it.
    private mutating func settle() {
        let headers = names.map(TerminalText.escaped)
        widths = headers.indices.map { column in
            max(headers[column].count, waiting.map { $0[column].count }.max() ?? 0)
        }
        tableLine(headers)
        tableLine(widths.map { String(repeating: "-", count: $0) })
        let rows = waiting
        waiting = []
        for row in rows { tableLine(row) }
    }

    private mutating func tableLine(_ cells: [String]) {
        var text = ""
        for (column, cell) in cells.enumerated() {
            let blanks = String(repeating: " ", count: max(0, widths[column] - cell.count))
            if column > 0 { text += "  " }
            text += isNumber[column] ? blanks + cell : cell + blanks
        }
        while text.last == " " { text.removeLast() }
        line(text)
    }

    private mutating func line(_ text: String) {
        put { $0.append(contentsOf: (text + "\n").utf8) }
    }

    private mutating func put(_ body: (inout [UInt8]) -> Void) {
        do throws(SystemError) {
            try output.append(body)
        } catch {
            failure = error
        }
    }

    private static func isNumber(_ value: SQLValue) -> Bool {
        switch value {
        case .integer, .real, .null: true
        case .text, .blob: false
        }
    }

    /// A value as text; nothing for NULL, hexadecimal for bytes.
    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes):
            String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }

    private static func csv(_ text: String) -> String {
        let isPlain = !text.utf8.contains { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }
        if isPlain { return text }
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    private static func object(_ names: [String], _ row: [SQLValue]) -> [UInt8] {
        var object = ObjectWriter()
        for (name, value) in zip(names, row) {
            switch value {
            case .null: object.add(name, json: Array("null".utf8))
            case .integer(let number): object.add(name, number)
            case .real(let number):
                object.add(name, json: Array((number.isFinite ? "\(number)" : "null").utf8))
            case .text(let text):
                if name == "payload", let json = json(text) {
                    object.add(name, json: json)
                } else {
                    object.add(name, text)
                }
            case .blob: object.add(name, Self.text(value))
            }
        }
        return object.finished
    }

    /// A payload as JSON on one line; nil where it is none.
    private static func json(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        let isJSON = bytes.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
        guard isJSON else { return nil }
        for index in bytes.indices where bytes[index] == 0x0a || bytes[index] == 0x0d {
            bytes[index] = 0x20
        }
        return bytes
    }
}
