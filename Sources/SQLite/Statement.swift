internal import CSQLite

/// A prepared statement.
///
/// The thread that owns its connection owns it too.
///
/// Indexes of parameters run from 1, those of columns from 0, as in SQLite.
public struct Statement: ~Copyable {
    private let handle: OpaquePointer

    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Binds an integer.
    public func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a text, which is copied.
    public func bind(_ index: Int32, _ text: String) throws(SQLiteError) {
        let count = Int32(clamping: text.utf8.count)
        try check(sqlite3_bind_text(handle, index, text, count, Self.copies))
    }

    /// Binds bytes, which are copied.
    public func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
        // A null address would bind NULL where no bytes are meant.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_zeroblob(handle, index, 0))
        }
        try check(sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), Self.copies))
    }

    /// Binds bytes, which are copied.
    public func bind(_ index: Int32, _ bytes: [UInt8]) throws(SQLiteError) {
        if bytes.isEmpty { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        try check(sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), Self.copies))
    }

    /// Binds NULL.
    public func bindNull(_ index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, index))
    }

    /// Goes to the next row: true if there is one, false at the end.
    public func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw error(code)
    }

    /// Runs a statement to its end and makes it ready for the next run, also where it fails.
    public func run() throws(SQLiteError) {
        var code = sqlite3_step(handle)
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        let failure = code == SQLITE_DONE ? nil : error(code)
        sqlite3_reset(handle)
        if let failure { throw failure }
    }

    /// Ends the run, and with it the read transaction; what is bound stays bound.
    public func reset() {
        sqlite3_reset(handle)
    }

    /// A column as an integer; 0 for NULL.
    public func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// A column as text; empty for NULL.
    public func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A column as bytes; empty for NULL.
    public func blob(_ column: Int32) -> [UInt8] {
        withBlob(column) { Array($0) }
    }

    /// A column's bytes where SQLite keeps them; valid in `body` only.
    public func withBlob<Result>(
        _ column: Int32,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let start = sqlite3_column_blob(handle, column)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Columns of a row; 0 for a statement that gives none.
    public var columnCount: Int32 { sqlite3_column_count(handle) }

    /// The name of a column: that of its AS, or else one of SQLite's choice.
    public func name(_ column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }

    /// A column's value in its own type.
    public func value(_ column: Int32) -> SQLValue {
        SQLValue(sqlite3_column_value(handle, column))
    }

    /// True if a column is NULL.
    public func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// SQLITE_TRANSIENT, whose macro Swift does not import.
    static var copies: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        if code != SQLITE_OK { throw error(code) }
    }

    private func error(_ code: Int32) -> SQLiteError {
        let database = sqlite3_db_handle(handle)
        let sql = sqlite3_sql(handle).map { String(cString: $0) } ?? ""
        return SQLiteError(
            code: code,
            message: String(cString: sqlite3_errmsg(database)),
            sql: sql
        )
    }
}
