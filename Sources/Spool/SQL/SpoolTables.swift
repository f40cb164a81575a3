internal import SQLite

/// The tables of a spool for SQL: `records`, `peers`, `losses`, `removed`, `groups`, `batches`,
/// `segments`.
public enum SpoolTables {
    /// The module: `CREATE VIRTUAL TABLE r USING intel_spool('FOLDER'[, TABLE])`.
    public static let module = "intel_spool"
    /// The tables; the first is the one of a statement that names none.
    public static let names = [
        "records", "peers", "losses", "removed", "groups", "batches", "segments",
    ]

    /// Makes the module known to somebody else's connection: a loadable extension's entry.
    ///
    /// Damaged batches are passed over there; `SELECT * FROM b WHERE error IS NOT NULL` on a table
    /// of `batches` tells which.
    ///
    /// - Parameter handle: a `sqlite3 *`, which must be of the same copy of SQLite as this
    ///   program's: it opens hot.db, and two copies in one process break each other's locks.
    /// - Returns: SQLite's result code, 0 for success.
    public static func register(onHandle handle: OpaquePointer) -> Int32 {
        VirtualModule.register(module, onHandle: handle, maker(SQLWatch()))
    }

    /// Makes tables for one connection; those of one folder share their reader.
    static func maker(
        _ watch: SQLWatch,
        _ open: [String: SpoolSource] = [:]
    ) -> VirtualModule.Maker {
        var sources = open
        return { arguments in
            guard (1...2).contains(arguments.count) else { throw Usage() }
            let directory = unquoted(arguments[0])
            let name = arguments.count == 2 ? unquoted(arguments[1]).lowercased() : names[0]
            guard !directory.isEmpty, names.contains(name) else { throw Usage() }
            let source = try sources[directory] ?? SpoolSource(directory, watch)
            sources[directory] = source
            switch name {
            case "peers": return BookTables.peers(source)
            case "losses": return BookTables.losses(source)
            case "groups": return StoreTables.groups(source)
            case "removed": return BookTables.removed(source)
            case "batches": return StoreTables.batches(source)
            case "segments": return StoreTables.segments(source)
            default: return RecordsTable(source)
            }
        }
    }

    /// The arguments of the module do not make sense.
    private struct Usage: Error, CustomStringConvertible {
        var description: String {
            "\(module) takes a spool's folder and one of "
                + names.joined(separator: ", ") + ": \(module)('/var/lib/intel/spool', peers)"
        }
    }

    /// An argument as SQLite gives it, without the quotes and blanks around it.
    private static func unquoted(_ argument: String) -> String {
        var text = Substring(argument)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        guard let quote = text.first, quote == "'" || quote == "\"", text.count >= 2,
            text.last == quote
        else { return String(text) }
        var out = ""
        var isSecond = false
        for character in text.dropFirst().dropLast() {
            // Two of them stand for one.
            if character == quote, !isSecond {
                isSecond = true
                continue
            }
            isSecond = false
            out.append(character)
        }
        return out
    }
}
