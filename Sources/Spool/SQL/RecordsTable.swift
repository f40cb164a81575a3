internal import Basics
internal import SQLite

/// `records`: every record of the spool, with conditions on time, peer, kind, level, numbers, text
/// and one payload path answered from batches' plain columns where they can be.
final class RecordsTable: VirtualTable {
    private let source: SpoolSource

    init(_ source: SpoolSource) {
        self.source = source
    }

    var declaration: String { RecordColumn.declaration }

    func plan(_ request: VirtualRequest) throws -> VirtualPlan {
        var planner = RecordPlanner(try source.figures())
        return try planner.run(request)
    }

    func open() -> any VirtualCursor {
        RecordCursor(source)
    }

    /// MATCH where it comes beside an OR or a second one, and is not part of a plan.
    func function(_ name: String) -> ((SQLValue, SQLValue) throws -> SQLValue)? {
        guard name == "match" else { return nil }
        // Called row by row, mostly with the same pattern.
        var last: TextPattern?
        return { pattern, text in
            if pattern == .null || text == .null { return .null }
            let payload = Array(SQLPattern.text(of: text).utf8)
            let isWord = payload.first == RecordColumn.wordMark
            let said = SQLPattern.text(of: pattern)
            let known = last.flatMap { $0.text == said && $0.isWord == isWord ? $0 : nil }
            let wanted = known ?? TextPattern(said, isWord: isWord)
            last = wanted
            let found = payload.withUnsafeBytes { bytes in
                wanted.search(bytes, ends: [bytes.count])
            }
            return .integer(found == [true] ? 1 : 0)
        }
    }
}
