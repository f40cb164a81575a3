internal import Basics
internal import LinuxIO
internal import SQLite

extension SpoolWriter {
    /// Takes the folder's lock and writes this process into it.
    ///
    /// One that was let go, or whose process was killed, may be held for a moment longer: by a
    /// child between its fork and its exec, or by the kernel.
    static func takeLock(_ directory: String) throws -> FileDescriptor {
        let path = Schema.lock(directory)
        do throws(SystemError) {
            return try tryLock(path)
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

    private static func tryLock(_ path: String) throws(SystemError) -> FileDescriptor {
        let pause = try Wake()
        var attempts = 1
        while true {
            do throws(SystemError) {
                let lock = try Files.lock(path)
                try Files.replaceContents(lock, with: "\(Environment.pid)\n")
                return lock
            } catch {
                guard error.wouldBlock, attempts < SpoolLimits.lockAttempts else { throw error }
                attempts += 1
                pause.wait(nanoseconds: 20_000_000)
            }
        }
    }

    /// Opens hot.db for writing; makes it where it is missing or still empty.
    static func open(_ directory: String, _ durability: Durability) throws -> Database {
        let path = Schema.database(directory)
        if Files.size(path) > 0 {
            try look(at: path, directory)
        }
        if durability == .full, Files.size(Schema.log(directory)) > 0 {
            // A process that was killed may have written commits that it did not live to sync:
            // they count, and senders will be told so, as soon as they are read.
            try Files.sync(Schema.log(directory))
            try Files.sync(directory)
        }
        let database = try Database(path: path, mode: .create)
        try Schema.settleWriter(database, durability)
        if try Schema.check(database, directory) {
            try Schema.migrate(database)
            // A file that was copied by SQL, such as a backup's, has lost it.
            try database.execute("PRAGMA journal_mode=WAL")
        } else {
            try Schema.make(database)
        }
        return database
    }

    /// Refuses what is newer or foreign.
    ///
    /// Read only: closing a connection that can write would copy the log of a newer version's file
    /// into it.
    private static func look(at path: String, _ directory: String) throws {
        do {
            let probe = try Database(path: path, mode: .read)
            try Schema.settle(probe)
            _ = try Schema.check(probe, directory)
        } catch let error as SQLiteError where error.needsRollback {
            // Killed while the file was made: it can be read when that is taken back.
        }
    }

    /// One more than the last store number given.
    ///
    /// A damaged row at the end does not keep the agent from starting: as many numbers are left out
    /// as it can have had.
    static func nextStore(_ database: borrowing Database) throws -> UInt64 {
        let compacted = try database.integer("SELECT max(last_store) FROM segment") ?? 0
        let next = UInt64(clamping: compacted) + 1
        let rows = try database.prepare("SELECT \(BatchRow.columns) FROM batch ORDER BY id DESC")
        var skipped: UInt64 = 0
        while try rows.step() {
            let row = BatchRow(rows)
            if rows.withBlob(8, { row.groups(from: $0) }) != nil {
                return max(next, row.lastStore + 1 + skipped)
            }
            skipped += UInt64(SpoolLimits.batchRecords)
        }
        return next + skipped
    }
}
