internal import SQLite

/// Reads the rows of a table that may be damaged: in order, and behind damage by single numbers.
struct TableWalk {
    /// Rows that could not be read, where they have a number.
    private(set) var unreadable: [Int64] = []
    /// True if all of the table was read in order.
    private(set) var isWhole = true

    /// Hands out every row, all its columns, the number being the first.
    ///
    /// - Parameter last: the last number that there can be, where that is known.
    mutating func forEach(
        _ table: String,
        key: String = "id",
        last: Int64?,
        _ database: borrowing Database,
        _ body: (borrowing Statement) throws -> Void
    ) throws {
        var next: Int64 = 1
        do {
            let walk = try Self.prepare("SELECT * FROM \(table) ORDER BY \(key)", database)
            while try Self.step(walk) {
                next = walk.integer(0) + 1
                try body(walk)
            }
            return
        } catch is Unreadable {
            isWhole = false
        }
        let end = min(last ?? Self.last(table, key, database), next + SpoolLimits.salvageBatches)
        let byNumber = "SELECT * FROM \(table) WHERE \(key) = ?"
        guard next <= end, let find = try? Self.prepare(byNumber, database) else { return }
        for id in next...end {
            defer { find.reset() }
            try find.bind(1, id)
            do {
                if try Self.step(find) { try body(find) }
            } catch is Unreadable {
                unreadable.append(id)
            }
        }
    }

    private struct Unreadable: Error {}

    /// A damaged schema may not even know the table.
    private static func prepare(
        _ sql: String,
        _ database: borrowing Database
    ) throws -> Statement {
        do { return try database.prepare(sql) } catch { throw Unreadable() }
    }

    private static func step(_ statement: borrowing Statement) throws -> Bool {
        do {
            return try statement.step()
        } catch {
            guard error.isDamaged || error.isUnreadable else { throw error }
            throw Unreadable()
        }
    }

    /// The greatest number, from the end of the tree.
    private static func last(
        _ table: String,
        _ key: String,
        _ database: borrowing Database
    ) -> Int64 {
        (try? database.integer("SELECT max(\(key)) FROM \(table)")) ?? 0
    }
}
