internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// The one writer of a spool folder.
///
/// One thread owns it, from making to end.
///
/// It holds `DIR/lock` (flock) as long as it lives; the file says which process that is. Readers
/// take no part in that lock.
public struct SpoolWriter: ~Copyable {
    private let directory: String
    private let lock: FileDescriptor
    private let database: Database
    private let begin: Statement
    private let end: Statement
    private let addBatch: Statement
    private let addLoss: Statement
    private let putPeer: Statement
    private var names: NameTable
    private let encoder: BatchEncoder

    /// The store number that the next record will get.
    public private(set) var nextStore: UInt64

    /// What was damaged when it was opened, and was mended or told.
    public let findings: [SpoolFinding]

    /// Opens the spool in `directory`; the folder (0750) and hot.db are made where missing.
    ///
    /// - Parameter mending: true to look for damage first, and to put a hot.db aside that cannot be
    ///   written, with one in its place that has what could be read.
    /// - Throws: `.locked` if another writer has it, `.newer` or `.damaged` if hot.db is not of
    ///   this version; then nothing in it was changed.
    public init(
        directory: String,
        durability: Durability,
        mending: Bool = false
    ) throws(SpoolError) {
        do {
            try Files.makeFolder(directory, mode: 0o750)
            if !Files.exists(Schema.database(directory)) {
                try Files.syncFolders(above: directory)
            }
            let lock = try Self.takeLock(directory)
            let findings = mending ? try Rescue.run(directory) : []
            let database = try Self.open(directory, durability)
            let names = try NameTable(database)
            let begin = try database.prepare("BEGIN IMMEDIATE")
            let end = try database.prepare("COMMIT")
            let addBatch = try database.prepare(
                """
                INSERT INTO batch(
                  t0, t1, time0, time1, n, raw, first_store, fmt, streams, crc, data)
                VALUES(?,?,?,?,?,?,?,?,?,?,?)
                """
            )
            let addLoss = try database.prepare(
                """
                INSERT INTO loss(peer, epoch, first, last, reason, time0, time1)
                VALUES(?,?,?,?,?,?,?)
                """
            )
            let putPeer = try database.prepare(PeerRow.upsert)
            let encoder = try BatchEncoder()
            let next = try Self.nextStore(database)
            self.findings = findings
            self.directory = directory
            self.lock = lock
            self.database = database
            self.begin = begin
            self.end = end
            self.addBatch = addBatch
            self.addLoss = addLoss
            self.putPeer = putPeer
            self.names = names
            self.encoder = encoder
            nextStore = next
        } catch {
            throw SpoolError("open spool", directory, error)
        }
    }

    /// Stores everything of `commit` in one transaction.
    ///
    /// - Returns: the store numbers that its records got; nil where it has none.
    /// - Throws: `.full` and others; then nothing of it is stored, and it can be tried again.
    public mutating func commit(_ commit: SpoolCommit) throws(SpoolError) -> ClosedRange<UInt64>? {
        let first = nextStore
        if let disk = try? DiskSpace(at: directory),
            disk.free < RetentionRules.leastFree(on: disk)
        {
            throw SpoolError(
                operation: "append to spool",
                subject: directory,
                cause: "the disk has \(disk.free) bytes left",
                hint: "free some space; nothing of this batch was stored",
                kind: .full
            )
        }
        do {
            try begin.run()
            try write(commit)
            try end.run()
            names.keep()
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            names.forget()
            nextStore = first
            throw SpoolError("append to spool", directory, error)
        }
        return nextStore > first ? first...(nextStore - 1) : nil
    }

    private mutating func write(_ commit: SpoolCommit) throws {
        for state in commit.peers {
            names.remember(state.instance, as: try PeerRow.write(state, putPeer))
        }
        let batch = commit.records
        var start = 0
        let instances = try batch.instances.map { try row(of: $0) }
        while start < batch.entries.count {
            let length = BatchEncoder.length(batch, from: start)
            try write(batch, start..<start + length, instances)
            start += length
        }
        for loss in commit.losses { try write(loss) }
    }

    private mutating func write(
        _ batch: RecordBatch,
        _ range: Range<Int>,
        _ instances: [Int64]
    ) throws {
        let (groups, groupOf) = try group(batch, range, instances)
        let encoded = try encoder.encode(
            batch,
            range,
            groupOf: groupOf,
            groups: groups,
            firstStore: nextStore
        )
        let row = encoded.row
        try addBatch.bind(1, row.t0)
        try addBatch.bind(2, row.t1)
        try addBatch.bind(3, row.time0)
        try addBatch.bind(4, row.time1)
        try addBatch.bind(5, Int64(row.count))
        try addBatch.bind(6, Int64(row.raw))
        try addBatch.bind(7, Int64(bitPattern: row.firstStore))
        try addBatch.bind(8, Int64(BatchBlob.format))
        try addBatch.bind(9, row.streams(encoded.groups))
        try addBatch.bind(10, Int64(encoded.checksum))
        try addBatch.bind(11, encoded.data)
        try addBatch.run()
        nextStore += UInt64(row.count)
    }

    /// The groups of a range of entries, and the group of each of these.
    private mutating func group(
        _ batch: RecordBatch,
        _ range: Range<Int>,
        _ instances: [Int64]
    ) throws -> ([BatchGroup], [Int]) {
        var groups: [BatchGroup] = []
        var known: [UInt64: Int] = [:]
        var groupOf: [Int] = []
        groupOf.reserveCapacity(range.count)
        var lastKey = UInt64.max
        var last = 0
        for entry in batch.entries[range] {
            let level = entry.envelope.level.rawValue
            let key = UInt64(entry.instance) << 34 | UInt64(entry.kind) << 4 | UInt64(level)
            if key != lastKey {
                lastKey = key
                if let found = known[key] {
                    last = found
                } else {
                    last = groups.count
                    known[key] = last
                    let stream = try names.stream(
                        peer: batch.instances[entry.instance].identifier,
                        kind: batch.kinds[entry.kind]
                    )
                    groups.append(
                        BatchGroup(
                            stream: stream,
                            instance: instances[entry.instance],
                            level: level,
                            count: 0
                        )
                    )
                }
            }
            groups[last].count += 1
            groupOf.append(last)
        }
        return (groups, groupOf)
    }

    /// The row of an instance; one that came without its books gets an empty one.
    private mutating func row(of instance: PeerInstance) throws -> Int64 {
        if let known = names.instance(instance) { return known }
        let find = try database.prepare("SELECT id FROM peer_state WHERE peer = ? AND epoch = ?")
        try find.bind(1, instance.identifier)
        try find.bind(2, Int64(bitPattern: instance.epoch))
        let found = try find.step() ? find.integer(0) : nil
        find.reset()
        let id = try found ?? PeerRow.write(PeerState(instance: instance), putPeer)
        names.remember(instance, as: id)
        return id
    }

    private func write(_ loss: Loss) throws(SQLiteError) {
        try addLoss.bind(1, loss.instance.identifier)
        try addLoss.bind(2, Int64(bitPattern: loss.instance.epoch))
        try addLoss.bind(3, Int64(bitPattern: loss.sequences.lowerBound))
        try addLoss.bind(4, Int64(bitPattern: loss.sequences.upperBound))
        try addLoss.bind(5, loss.reason)
        try addLoss.bind(6, loss.times.lowerBound)
        try addLoss.bind(7, loss.times.upperBound)
        try addLoss.run()
    }
}
