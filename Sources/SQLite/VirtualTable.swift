/// A table whose rows come from code of ours.
///
/// The thread that runs the connection's statements calls it, never two at a time. What a method
/// throws becomes the error of the statement; nothing that SQL can say may stop the program.
public protocol VirtualTable: AnyObject {
    /// `CREATE TABLE x(…)`: the columns, counted from 0; those marked HIDDEN stay out of `*`.
    var declaration: String { get }

    /// Chooses what of a statement's conditions the table will look after, and says what it costs.
    ///
    /// - Throws: `VirtualPlan.Impossible` where these conditions cannot be served at all.
    func plan(_ request: VirtualRequest) throws -> VirtualPlan

    /// A new cursor, without rows until `start`.
    func open() throws -> any VirtualCursor

    /// What a function of two arguments does where one of them is a column of this table; nil for
    /// what it always does.
    func function(_ name: String) -> ((SQLValue, SQLValue) throws -> SQLValue)?
}

/// One walk over the rows of a virtual table.
public protocol VirtualCursor: AnyObject {
    /// Goes to the first row that a plan gives; called again for each new set of arguments.
    ///
    /// - Parameters:
    ///   - plan: `VirtualPlan.name`.
    ///   - arguments: the values of the conditions in `VirtualPlan.uses`, in their order.
    func start(_ plan: String, _ arguments: [VirtualArgument]) throws

    /// Goes to the next row.
    func advance() throws

    /// True behind the last row.
    var isAtEnd: Bool { get }

    /// Puts the value of a column of this row into `result`.
    func column(_ index: Int, into result: SQLResult) throws

    /// The number of this row, the same in every walk.
    func rowNumber() throws -> Int64
}

/// What a condition is compared with.
public enum VirtualArgument: Equatable, Sendable {
    /// One value.
    case value(SQLValue)
    /// All values of an IN.
    case list([SQLValue])
}

/// The conditions of a statement on one virtual table, as SQLite tells them while it plans.
public struct VirtualRequest {
    /// How a condition compares a column.
    public enum Comparison: Equatable, Sendable {
        case equal, less, lessOrEqual, greater, greaterOrEqual, match, like, glob
        /// No column's: how many rows will be taken, and how many passed over before them. SQLite
        /// stops by itself; the table may make ready for it.
        case limit, offset
        case other
    }

    /// One condition: column, comparison, value.
    public struct Constraint {
        /// The column from 0; -1 is the row number.
        public var column: Int
        /// How it is compared.
        public var comparison: Comparison
        /// False where its value is not known in this plan.
        public var isUsable: Bool
        /// True where texts are compared byte by byte.
        public var isBinary: Bool
        /// True for an IN whose values can come as one list.
        public var isList: Bool
        /// The value, where the statement says it in so many words.
        public var constant: SQLValue?
    }

    /// One term of ORDER BY.
    public struct Term: Equatable, Sendable {
        /// The column from 0; -1 is the row number.
        public var column: Int
        /// True for DESC.
        public var isDescending: Bool
    }

    /// All conditions, joined by AND.
    public var constraints: [Constraint]
    /// ORDER BY, as far as it concerns this table alone.
    public var order: [Term]
    /// One bit a column that the statement looks at; the highest stands for all from 63 on.
    public var columns: UInt64
}

/// How a virtual table will serve a statement.
public struct VirtualPlan {
    /// These conditions cannot be served; SQLite looks for another order of its tables.
    public struct Impossible: Error {
        /// The only one there is.
        public init() {}
    }

    /// A condition that the table looks after.
    public struct Use {
        /// Its index in `VirtualRequest.constraints`.
        public var constraint: Int
        /// True where every row that the table gives passes it, so that SQLite need not check.
        public var isExact: Bool
        /// True where all values of an IN are wanted as one list.
        public var asList: Bool

        /// A use as given.
        public init(_ constraint: Int, isExact: Bool, asList: Bool = false) {
            self.constraint = constraint
            self.isExact = isExact
            self.asList = asList
        }
    }

    /// Conditions that a table can look after at the most: one bit of a plan's number for each.
    public static let usesMax = 31

    /// The conditions in the order in which their values are wanted; at most `usesMax`.
    public var uses: [Use] = []
    /// The plan in words, for the cursor and for EXPLAIN QUERY PLAN.
    public var name = ""
    /// What it costs, where a step to a next row is about 1.
    public var cost = 0.0
    /// How many rows will come, about.
    public var rows = 0.0
    /// True where the rows come in the order that was asked for.
    public var isOrdered = false
    /// True where there is one row at the most.
    public var isUnique = false

    /// A plan to be filled in.
    public init() {}
}
