internal import Basics
internal import LinuxIO
internal import SQLite

extension SpoolWriter {
    /// Takes the folder's lock and writes this process into it.
    static func takeLock(_ directory: String) throws -> FileDescriptor {
        let path = Schema.lock(directory)
        do {
            let lock = try Files.lock(path)
            try Files.replaceContents(lock, with: "\(Environment.pid)\n")
            return lock
        } catch {
            guard error.wouldBlock else { throw error }
            let text = (try? Files.contents(path, limit: 64)) ?? []
            let pid = Int32(String(decoding: text.prefix { $0 != 0x0a }, as: UTF8.self))
            throw SpoolError(
                operation: "open spool",
                subject: directory,
                cause: "another writer has it" + (pid.map { " (pid \($0))" } ?? ""),
                hint: "one agent per spool: stop that one, or choose another --spool",
                kind: .locked(pid: pid)
            )
        }
    }

    /// Opens hot.db for writing; makes it where it is missing or still empty.
    static func open(_ directory: String, _ durability: Durability) throws -> Database {
        let path = Schema.database(directory)
        if Files.size(path) > 0 {
            // Read only first: closing a connection that can write would copy the log of a newer
            // version's file into it.
            let probe = try Database(path: path, mode: .read)
            try Schema.settle(probe)
            _ = try Schema.check(probe, directory)
        }
        let database = try Database(path: path, mode: .create)
        try Schema.settleWriter(database, durability)
        if try !Schema.check(database, directory) { try Schema.make(database) }
        return database
    }

    /// One more than the last store number given.
    static func nextStore(_ database: borrowing Database) throws -> UInt64 {
        let last = try database.prepare(
            "SELECT first_store, n FROM batch ORDER BY id DESC LIMIT 1"
        )
        guard try last.step() else { return 1 }
        let (first, count) = (last.integer(0), last.integer(1))
        guard first > 0, count > 0, first < .max - count else {
            throw TruncatedColumn(name: "first_store")
        }
        return UInt64(first + count)
    }
}
