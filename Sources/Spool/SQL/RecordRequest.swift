internal import SQLite
internal import Telemetry

/// What a cursor has been asked for: a plan's words and the values that belong to them.
///
/// A value whose type is not the column's own is passed over: SQLite, which knows how to convert
/// it, checks each row itself then.
struct RecordRequest {
    var query = Query()
    /// The path of `value`, as it was given.
    private(set) var pathText: String?
    private(set) var path: PayloadPath?
    private var values: [ValueTest] = []
    private(set) var order = RecordOrder()
    /// True where no record can pass.
    private(set) var isEmpty = false
    /// True where every batch is opened at once, because columns of single records are wanted.
    private(set) var opens = false
    /// True where the payload is wanted too.
    private(set) var withPayload = false
    /// How many rows will be taken at the most, those passed over included; nil for all.
    private(set) var expected: Int?
    private var times = TimeBounds()

    /// Words of a plan that say how many rows there will be.
    static let limitWords: [VirtualRequest.Comparison: String] = [
        .limit: "limit", .offset: "offset",
    ]

    /// Nothing at all.
    init() {
        isEmpty = true
    }

    init(_ plan: String, _ arguments: [VirtualArgument]) throws {
        var rest = arguments[...]
        for word in plan.split(separator: " ") {
            switch word {
            case "envelope": opens = true
            case "payload": (opens, withPayload) = (true, true)
            case "limit", "offset":
                if case .value(let value) = rest.popFirst() { take(rows: value) }
            case _ where word.hasPrefix("by:"): order = Self.order(word)
            default:
                guard let test = RecordTest(word), let argument = rest.popFirst() else {
                    throw SQLiteError(code: 1, message: "plan '\(plan)' is not ours", sql: plan)
                }
                try take(test, argument)
            }
        }
        query.since = times.since
        query.until = times.until
        if times.isEmpty { isEmpty = true }
        if !values.isEmpty, let path {
            query.conditions.payload = PayloadTest(path: path, values: values)
        }
        lookForKey()
    }

    private static func order(_ word: Substring) -> RecordOrder {
        let key = RecordOrder.Key(rawValue: String(word.dropFirst(3).prefix { $0 != "-" }))
        return RecordOrder(key: key ?? .store, isReverse: word.hasSuffix("-"), isAsked: true)
    }

    private mutating func take(_ test: RecordTest, _ argument: VirtualArgument) throws {
        switch argument {
        case .list(let list): take(test, list.filter { $0 != .null })
        case .value(.null): isEmpty = true
        case .value(let value):
            switch test.column {
            case .path: try take(path: value)
            case .text, .payload: take(text: value, test.kind)
            case .word: query.text = TextPattern(SQLPattern.text(of: value), isWord: true)
            case .value: values.append(ValueTest(kind: test.kind, bound: value))
            case .time: if let text = value.text { times.narrow(test.kind, text) }
            case .timeNS: if let number = value.integer { times.narrow(test.kind, number) }
            case .id: if let text = value.text { take(id: text) }
            default:
                if test.kind == .equal {
                    take(test, [value])
                } else if let text = value.text {
                    take(pattern: text, test)
                } else if let number = value.integer {
                    take(bound: number, test)
                }
            }
        }
    }

    private mutating func take(rows value: SQLValue) {
        // A negative LIMIT is none.
        guard let rows = value.integer, rows >= 0 else { return }
        expected = (expected ?? 0) &+ Int(clamping: rows)
        if expected ?? 0 < 0 { expected = nil }
    }

    /// One of these values.
    private mutating func take(_ test: RecordTest, _ list: [SQLValue]) {
        switch test.column {
        case .peer, .kind, .level:
            let texts = list.compactMap(\.text)
            guard texts.count == list.count else { return }
            let names = Set(texts.map { Array($0.utf8) })
            if test.column == .peer { query.conditions.peers.append(.oneOf(names)) }
            if test.column == .kind { query.conditions.kinds.append(.oneOf(names)) }
            if test.column == .level { keepLevels { names.contains(Array($0.name.utf8)) } }
        default:
            let numbers = list.compactMap(\.integer)
            guard numbers.count == list.count else { return }
            guard let least = numbers.min(), let greatest = numbers.max() else {
                isEmpty = true
                return
            }
            switch test.column {
            case .priority: keepLevels { numbers.contains(Int64($0.rawValue)) }
            case .epoch:
                // Negative here would be one above 2^63 - 1, which is a text in SQL.
                let wanted = Set(numbers.filter { $0 >= 0 })
                query.conditions.epochs = query.conditions.epochs?.intersection(wanted) ?? wanted
            case .seq:
                query.conditions.sequences.raise(to: least)
                query.conditions.sequences.lower(to: greatest)
            case .store:
                query.conditions.stores.raise(to: least)
                query.conditions.stores.lower(to: greatest)
            default: break
            }
        }
    }

    private mutating func keepLevels(_ isKept: (Level) -> Bool) {
        for level in Level.allCases where !isKept(level) {
            query.conditions.levels &= ~(1 << level.rawValue)
        }
    }

    /// A name like a pattern: what stands before its first wildcard is looked at here.
    private mutating func take(pattern: String, _ test: RecordTest) {
        let isLike = test.kind == .like
        let bytes = SQLPattern.prefix(pattern, isLike: isLike)
        guard !bytes.isEmpty else { return }
        let name = Conditions.NameTest.prefix(bytes, ignoresCase: isLike)
        if test.column == .peer { query.conditions.peers.append(name) }
        if test.column == .kind { query.conditions.kinds.append(name) }
    }

    private mutating func take(bound: Int64, _ test: RecordTest) {
        switch test.column {
        case .seq: query.conditions.sequences.narrow(test.kind, bound, &isEmpty)
        case .store: query.conditions.stores.narrow(test.kind, bound, &isEmpty)
        case .priority:
            keepLevels { level in
                let number = Int64(level.rawValue)
                switch test.kind {
                case .less: return number < bound
                case .lessOrEqual: return number <= bound
                case .greater: return number > bound
                case .greaterOrEqual: return number >= bound
                default: return true
                }
            }
        default: break
        }
    }

    /// `peer/epoch/seq`, as the column prints it.
    private mutating func take(id: String) {
        let parts = id.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let epoch = UInt64(parts[parts.count - 2]),
            let sequence = UInt64(parts[parts.count - 1])
        else {
            isEmpty = true
            return
        }
        let peer = parts.dropLast(2).joined(separator: "/")
        query.conditions.peers.append(.oneOf([Array(peer.utf8)]))
        let epochs: Set = [Int64(bitPattern: epoch)]
        query.conditions.epochs = query.conditions.epochs?.intersection(epochs) ?? epochs
        if let number = Int64(exactly: sequence) {
            query.conditions.sequences.narrow(.equal, number, &isEmpty)
        }
    }

    private mutating func take(path value: SQLValue) throws {
        guard let text = value.text else { throw PayloadPath.Malformed(path: "\(value)") }
        pathText = text
        path = try PayloadPath(text)
    }

    private mutating func take(text value: SQLValue, _ kind: RecordTest.Kind) {
        if kind == .match {
            query.text = TextPattern(SQLPattern.text(of: value))
        } else if let pattern = value.text {
            let isLike = kind == .like
            let run = SQLPattern.longestRun(pattern, isLike: isLike)
            if !run.isEmpty { query.text = TextPattern(isLike ? run.lowercased() : run) }
        }
    }

    /// A value that must be there needs its key in the payload: batches without it stay packed.
    private mutating func lookForKey() {
        guard query.text == nil, !values.isEmpty else { return }
        guard let path else {
            // Without a path `value` is NULL, and no comparison with that comes out true.
            isEmpty = true
            return
        }
        if let key = path.lastKey, !key.isEmpty {
            query.text = TextPattern(String(decoding: key, as: UTF8.self))
        }
    }
}

extension Bounds {
    /// Takes in a comparison; `isEmpty` becomes true where nothing can pass it.
    mutating func narrow(_ kind: RecordTest.Kind, _ bound: Int64, _ isEmpty: inout Bool) {
        switch kind {
        case .equal:
            raise(to: bound)
            lower(to: bound)
        case .greaterOrEqual: raise(to: bound)
        case .lessOrEqual: lower(to: bound)
        case .less: if bound == .min { isEmpty = true } else { lower(to: bound - 1) }
        // Numbers above the greatest are texts in SQL, and they pass.
        case .greater: if bound < .max { raise(to: bound + 1) }
        default: break
        }
    }
}

/// What a LIKE or GLOB pattern says for sure.
enum SQLPattern {
    /// The bytes before the first wildcard, plain ASCII only: what folding case does to others is
    /// for SQLite to know.
    static func prefix(_ pattern: String, isLike: Bool) -> [UInt8] {
        Array(pattern.utf8.prefix { $0 < 0x80 && $0 > 0 && !isWildcard($0, isLike) })
    }

    /// The longest run of plain ASCII between wildcards: every text that fits holds it.
    static func longestRun(_ pattern: String, isLike: Bool) -> String {
        var best: [UInt8] = []
        var run: [UInt8] = []
        var inSet = false
        for byte in pattern.utf8 {
            // What comes after a `[` may be a set, whose members need not all occur; from there on
            // nothing is sure enough.
            if !isLike, byte == UInt8(ascii: "[") { inSet = true }
            if byte == 0 { break }
            if inSet || byte >= 0x80 || isWildcard(byte, isLike) {
                run = []
                if inSet { break }
                continue
            }
            run.append(byte)
            if run.count > best.count { best = run }
        }
        return String(decoding: best, as: UTF8.self)
    }

    private static func isWildcard(_ byte: UInt8, _ isLike: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "_"): isLike
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["): !isLike
        default: false
        }
    }

    /// What MATCH looks for, as text.
    static func text(of value: SQLValue) -> String {
        switch value {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
