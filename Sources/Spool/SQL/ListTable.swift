internal import SQLite

/// A small table whose rows are made all at once when a statement comes to it.
final class ListTable: VirtualTable {
    /// A column: its name and type.
    typealias Column = (name: String, type: String)

    private let name: String
    private let columns: [Column]
    /// About how many rows there are.
    private let count: () throws -> UInt64
    /// Makes the rows; true where the last column is looked at, which may be dear.
    private let rows: (Bool) throws -> [[SQLValue]]

    init(
        _ name: String,
        _ columns: [Column],
        count: @escaping () throws -> UInt64,
        rows: @escaping (Bool) throws -> [[SQLValue]]
    ) {
        self.name = name
        self.columns = columns
        self.count = count
        self.rows = rows
    }

    var declaration: String {
        let list = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return "CREATE TABLE \(name)(\(list))"
    }

    func plan(_ request: VirtualRequest) throws -> VirtualPlan {
        var plan = VirtualPlan()
        let wantsLast = request.columns >> UInt64(columns.count - 1) & 1 == 1
        plan.name = wantsLast ? "with \(columns.last?.name ?? "")" : ""
        plan.rows = Double(try count())
        plan.cost = 20 + 2 * plan.rows
        return plan
    }

    func open() -> any VirtualCursor {
        ListCursor(rows)
    }

    func function(_ name: String) -> ((SQLValue, SQLValue) throws -> SQLValue)? {
        nil
    }
}

private final class ListCursor: VirtualCursor {
    private let make: (Bool) throws -> [[SQLValue]]
    private var rows: [[SQLValue]] = []
    private var position = 0

    init(_ make: @escaping (Bool) throws -> [[SQLValue]]) {
        self.make = make
    }

    var isAtEnd: Bool { position >= rows.count }

    func start(_ plan: String, _ arguments: [VirtualArgument]) throws {
        rows = try make(!plan.isEmpty)
        position = 0
    }

    func advance() {
        position += 1
    }

    func column(_ index: Int, into result: SQLResult) {
        guard position < rows.count, index < rows[position].count, index >= 0 else {
            return result.setNull()
        }
        result.set(rows[position][index])
    }

    func rowNumber() -> Int64 {
        Int64(position)
    }
}
