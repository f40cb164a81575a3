internal import SQLite

/// The columns of `records`, in their order; the hidden ones come last.
enum RecordColumn: Int, CaseIterable {
    case time, peer, kind, level, seq, epoch, received, id, store, pid, uid, payload
    /// Hidden: a path into the payload, and the value there.
    case path, value
    /// Hidden: the payload, to be searched with MATCH for a text, or for one that stands alone.
    case text, word
    /// Hidden: nanoseconds since 1970.
    case timeNS, receivedNS
    /// Hidden: the level's number, 0 to 7.
    case priority

    /// The name in SQL.
    var name: String {
        switch self {
        case .timeNS: "time_ns"
        case .receivedNS: "received_ns"
        default: "\(self)"
        }
    }

    private var type: String {
        switch self {
        case .time, .peer, .kind, .level, .received, .id, .payload: "TEXT"
        case .seq, .epoch, .store, .pid, .uid: "INTEGER"
        // Values of any type, compared as they are; HIDDEN alone would make numbers of texts.
        case .value: "BLOB HIDDEN"
        case .path, .text, .word: "TEXT HIDDEN"
        case .timeNS, .receivedNS, .priority: "INTEGER HIDDEN"
        }
    }

    /// `CREATE TABLE` as SQLite wants it.
    static var declaration: String {
        let columns = allCases.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return "CREATE TABLE records(\(columns))"
    }

    /// Stands before the payload in `word`, so that a MATCH that SQLite works out knows what it is
    /// asked: no JSON begins with it.
    static let wordMark: UInt8 = 1

    /// The column's bit in `VirtualRequest.columns`.
    var bit: UInt64 { 1 << UInt64(rawValue) }

    /// True for what all records of one group have in common: known without opening the batch.
    var isOfGroup: Bool {
        switch self {
        case .peer, .kind, .level, .epoch, .pid, .uid, .priority, .path: true
        default: false
        }
    }

    /// True for what needs the payload.
    var isOfPayload: Bool {
        switch self {
        case .payload, .value, .text, .word: true
        default: false
        }
    }
}

/// A condition that the table looks after: a column, and how it is compared.
///
/// Plans name it as `time>=`, `peer=`, `kind[]` (one of a list), `peer*` (GLOB), `peer%` (LIKE) and
/// `text~` (MATCH).
struct RecordTest: Equatable {
    enum Kind: String, CaseIterable {
        case equal = "="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case oneOf = "[]"
        case glob = "*"
        case like = "%"
        case match = "~"

        init?(_ comparison: VirtualRequest.Comparison) {
            switch comparison {
            case .equal: self = .equal
            case .less: self = .less
            case .lessOrEqual: self = .lessOrEqual
            case .greater: self = .greater
            case .greaterOrEqual: self = .greaterOrEqual
            case .glob: self = .glob
            case .like: self = .like
            case .match: self = .match
            case .limit, .offset, .other: return nil
            }
        }

        var isOrder: Bool {
            switch self {
            case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual: true
            default: false
            }
        }
    }

    var column: RecordColumn
    var kind: Kind

    var name: String { column.name + kind.rawValue }

    init(_ column: RecordColumn, _ kind: Kind) {
        self.column = column
        self.kind = kind
    }

    /// Reads what `name` writes.
    init?(_ name: Substring) {
        let word = name.prefix { $0 == "_" || $0.isLetter }
        guard let column = RecordColumn.allCases.first(where: { $0.name == word }),
            let kind = Kind(rawValue: String(name.dropFirst(word.count)))
        else { return nil }
        self.init(column, kind)
    }
}

/// In which order rows come: by time (`by:time`), or by store number, each also backwards (`-`).
struct RecordOrder: Equatable {
    enum Key: String { case time, store }

    /// Store numbers are the order without being asked.
    var key = Key.store
    var isReverse = false
    /// True where the statement asked for it.
    var isAsked = false

    var name: String { "by:\(key.rawValue)\(isReverse ? "-" : "")" }
}
