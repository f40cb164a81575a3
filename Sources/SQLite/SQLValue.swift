internal import CSQLite

/// A value as SQL knows it.
public enum SQLValue: Equatable, Sendable {
    /// NULL.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number in floating point.
    case real(Double)
    /// A text; bytes of it that are not UTF-8 have become U+FFFD.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// The text, where it is one.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The whole number, where it is one.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// An unsigned number: above 2^63 - 1, which SQL has not, its digits as text.
    public static func unsigned(_ number: UInt64) -> SQLValue {
        number <= UInt64(Int64.max) ? .integer(Int64(number)) : .text(String(number))
    }

    /// What SQLite hands to a function or a virtual table.
    init(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            // The text first: asking for it can change its length.
            let start = sqlite3_value_text(value)
            let count = Int(sqlite3_value_bytes(value))
            let bytes = UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)
            let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
            self = .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
        default: self = .null
        }
    }
}

/// Where a virtual table puts the value of a column, or a function its result.
///
/// Valid only during the call that got it.
public struct SQLResult {
    private let context: OpaquePointer?

    init(_ context: OpaquePointer?) {
        self.context = context
    }

    /// NULL.
    public func setNull() {
        sqlite3_result_null(context)
    }

    /// A whole number.
    public func set(_ number: Int64) {
        sqlite3_result_int64(context, number)
    }

    /// A text, which is copied.
    public func set(_ text: String) {
        var copy = text
        copy.withUTF8 { set(text: UnsafeRawBufferPointer($0)) }
    }

    /// The bytes of a text, which are copied.
    public func set(text bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            // A null address would be NULL where an empty text is meant.
            return sqlite3_result_text(context, "", 0, Statement.copies)
        }
        sqlite3_result_text64(
            context,
            start.assumingMemoryBound(to: CChar.self),
            UInt64(bytes.count),
            Statement.copies,
            UInt8(SQLITE_UTF8)
        )
    }

    /// Any value.
    public func set(_ value: SQLValue) {
        switch value {
        case .null: setNull()
        case .integer(let number): set(number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let text): set(text)
        case .blob(let bytes):
            if bytes.isEmpty {
                sqlite3_result_zeroblob(context, 0)
            } else {
                sqlite3_result_blob64(context, bytes, UInt64(bytes.count), Statement.copies)
            }
        }
    }

    func set(error: String) {
        sqlite3_result_error(context, error, -1)
    }
}
