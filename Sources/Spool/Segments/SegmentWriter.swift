internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Writes one segment file under its temporary name.
///
/// Nothing is journalled or synced on the way: what is not whole is thrown away.
struct SegmentWriter: ~Copyable {
    private let database: Database
    private let addBatch: Statement
    private let addWords: Statement
    /// The segment as a whole, so far.
    private(set) var row = BatchRow(cold: 0)
    private(set) var batches = 0
    private var groups: [GroupKey: BatchGroup] = [:]
    private var order: [GroupKey] = []

    private struct GroupKey: Hashable {
        var stream: Int64
        var instance: Int64
        var level: UInt8
    }

    /// Makes the file and its tables.
    init(path: String) throws {
        try Files.remove(path)
        let database = try Database(path: path, mode: .create)
        try database.execute(SegmentSchema.tables)
        let addBatch = try database.prepare(
            """
            INSERT INTO batch(\(BatchRow.coldColumns), fmt, crc, data)
            VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)
            """
        )
        let addWords = try database.prepare("INSERT INTO words(batch, bloom) VALUES(?,?)")
        self.database = database
        self.addBatch = addBatch
        self.addWords = addWords
    }

    /// Adds a batch; numbers run from 1.
    mutating func add(_ records: [ColumnRecord], data: [UInt8], words: [UInt8]) throws {
        var batch = BatchRow(cold: 0)
        for record in records { batch.add(record) }
        try add(batch, Self.groups(records), data: data, words: words)
    }

    /// Adds a batch of which all is known.
    mutating func add(
        _ known: BatchRow,
        _ own: [BatchGroup],
        data: [UInt8],
        words: [UInt8]
    ) throws {
        batches += 1
        var batch = known
        batch.id = Int64(batches)
        try batch.bindCold(addBatch, batch.streams(own))
        try addBatch.bind(11, Int64(ColumnBlob.format))
        let sum = try data.withUnsafeBytes { try ColumnBlob($0).sum }
        try addBatch.bind(12, Int64(sum))
        try addBatch.bind(13, data)
        try addBatch.run()
        try addWords.bind(1, batch.id)
        try addWords.bind(2, words)
        try addWords.run()
        row.add(batch)
        for group in own { add(group) }
    }

    private mutating func add(_ group: BatchGroup) {
        let key = GroupKey(stream: group.stream, instance: group.instance, level: group.level)
        guard var known = groups[key] else {
            groups[key] = group
            order.append(key)
            return
        }
        known.add(group)
        groups[key] = known
    }

    /// The groups of the whole segment.
    var allGroups: [BatchGroup] { order.compactMap { groups[$0] } }

    /// Copies the names that its records need, and ends the transaction.
    ///
    /// - Parameter hot: the connection to hot.db.
    func finish(_ meta: SegmentSchema.Meta, _ hot: borrowing Database) throws {
        let put = try database.prepare("INSERT INTO meta VALUES(?,?)")
        let pairs = [
            ("lo", meta.lo), ("hi", meta.hi), ("source", meta.source), ("n", Int64(row.count)),
        ]
        for (key, value) in pairs {
            try put.bind(1, key)
            try put.bind(2, value)
            try put.run()
        }
        try copy(
            Set(order.map(\.stream)).sorted(),
            hot.prepare("SELECT id, peer, kind FROM stream WHERE id = ?"),
            database.prepare("INSERT INTO stream VALUES(?,?,?)")
        )
        try copy(
            Set(order.map(\.instance)).sorted(),
            hot.prepare("SELECT id, peer, epoch, pid, uid FROM peer_state WHERE id = ?"),
            database.prepare("INSERT INTO instance VALUES(?,?,?,?,?)")
        )
        try database.execute("COMMIT")
    }

    private func copy(
        _ ids: [Int64],
        _ find: borrowing Statement,
        _ add: borrowing Statement
    ) throws {
        for id in ids {
            defer { find.reset() }
            try find.bind(1, id)
            guard try find.step() else { throw DamagedBatch(reason: "its names are not known") }
            for column in 0..<find.columnCount {
                switch find.value(column) {
                case .integer(let number): try add.bind(column + 1, number)
                default: try add.bind(column + 1, find.text(column))
                }
            }
            try add.run()
        }
    }

    /// The groups of sorted records, in the order in which they come.
    private static func groups(_ records: [ColumnRecord]) -> [BatchGroup] {
        var groups: [BatchGroup] = []
        var places: [GroupKey: Int] = [:]
        var last: (key: GroupKey, place: Int)?
        for record in records {
            let key = GroupKey(
                stream: record.stream,
                instance: record.instance,
                level: record.envelope.level.rawValue
            )
            let sequence = record.envelope.sequence
            let one = BatchGroup(
                stream: key.stream,
                instance: key.instance,
                level: key.level,
                count: 1,
                sequences: sequence...sequence
            )
            let place = last?.key == key ? last?.place : places[key]
            if let place {
                groups[place].add(one)
                last = (key, place)
            } else {
                places[key] = groups.count
                last = (key, groups.count)
                groups.append(one)
            }
        }
        return groups
    }
}

extension BatchGroup {
    /// Takes in records of the same stream, instance and level.
    mutating func add(_ other: BatchGroup) {
        count += other.count
        sequences =
            min(
                sequences.lowerBound,
                other.sequences.lowerBound
            )...max(
                sequences.upperBound,
                other.sequences.upperBound
            )
    }
}
