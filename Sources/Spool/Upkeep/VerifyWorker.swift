internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// One thread of a verification: reads, unpacks and compares what the board gives it.
struct VerifyWorker: ~Copyable {
    private var reader: SpoolReader
    private let catalog: Catalog
    private let board: VerifyBoard
    private let isDeep: Bool
    private let find: Statement
    private var found = Verification()

    init(
        _ directory: String,
        _ catalog: Catalog,
        _ board: VerifyBoard,
        isDeep: Bool
    ) throws {
        let reader = try SpoolReader(directory: directory)
        find = try reader.database.prepare(
            "SELECT \(BatchRow.columns), crc, data FROM batch WHERE id = ?"
        )
        self.reader = reader
        self.catalog = catalog
        self.board = board
        self.isDeep = isDeep
    }

    /// Does jobs until there are none.
    mutating func work() throws {
        defer { board.add(found) }
        while let job = board.take() {
            switch job {
            case .books: try checkBooks()
            case .hot(let rows): for row in rows { try check(hot: row) }
            case .segment(let segment): try check(segment)
            }
        }
    }

    /// Why something cannot be read; anything but damage is thrown on.
    static func cause(_ error: any Error) throws -> String {
        if let damaged = error as? DamagedBatch { return damaged.reason }
        guard let error = error as? SQLiteError, error.isDamaged || error.isUnreadable else {
            throw error
        }
        return error.message
    }

    // MARK: The hot tier

    private mutating func check(hot listed: BatchRow) throws {
        defer { board.add(read: listed.raw) }
        let cause: String
        do {
            guard let (row, packed) = try loadHot(listed.id) else {
                return try missing(listed)
            }
            found.hotBatches += 1
            found.records += UInt64(row.count)
            found.rawBytes += UInt64(row.raw)
            found.packedBytes += UInt64(packed)
            return
        } catch {
            cause = try Self.cause(error)
        }
        found.hotBatches += 1
        found.add(BatchName(id: listed.id), records: listed.count, cause)
    }

    /// Unpacks a hot batch and compares it with its row; nil where there is none.
    private mutating func loadHot(_ id: Int64) throws -> (row: BatchRow, packed: Int)? {
        let (row, groups, checksum, blob): (BatchRow, [BatchGroup]?, Int64, [UInt8])
        do {
            defer { find.reset() }
            try find.bind(1, id)
            guard try find.step() else { return nil }
            row = BatchRow(find)
            groups = find.withBlob(8) { row.groups(from: $0) }
            checksum = find.integer(9)
            blob = find.blob(10)
        }
        guard let groups else { throw DamagedBatch(reason: "its row is damaged") }
        guard catalog.knows(groups) else { throw DamagedBatch(reason: "its names are not known") }
        let result = blob.withUnsafeBytes { bytes in
            Result { () throws(DamagedBatch) in
                try reader.decoder.decode(
                    bytes,
                    row: row,
                    groups: groups,
                    checksum: checksum,
                    withPayload: true,
                    text: nil
                )
            }
        }
        guard let (columns, _) = try result.get() else { return nil }
        var tally = GroupTally()
        for (index, envelope) in columns.envelopes.enumerated() {
            let group = groups[columns.groupOf[index]]
            tally.add(
                stream: group.stream,
                instance: group.instance,
                envelope,
                store: row.firstStore &+ UInt64(index)
            )
        }
        if let cause = tally.difference(from: row, groups, isHot: true) {
            throw DamagedBatch(reason: cause)
        }
        return (row, blob.count)
    }

    /// A batch that was listed and is not found: moved, removed, or cut off by damage above it.
    private mutating func missing(_ row: BatchRow) throws {
        if try !reader.isMoved(row.id) {
            // Goes through the leaves one by one instead of down the tree.
            let walk = try reader.database.prepare("SELECT 1 FROM batch WHERE id + 0 = ?")
            try walk.bind(1, row.id)
            do {
                if try walk.step() {
                    let cause = "it is listed and cannot be found by its number"
                    return found.add(BatchName(id: row.id), records: row.count, cause)
                }
            } catch {
                let cause = try Self.cause(error)
                return found.add(BatchName(id: row.id), records: row.count, cause)
            }
        }
        found.moved += 1
    }

    /// The pages of hot.db, and the books in it.
    private mutating func checkBooks() throws {
        do {
            let check = try reader.database.prepare("PRAGMA quick_check(1)")
            if try check.step(), check.text(0) != "ok" { note("hot.db", check.text(0)) }
        } catch {
            note("hot.db", try Self.cause(error))
        }
        do {
            for instance in try PeerRow.forEach(reader.database, { _ in }) {
                note("books of \(instance)", "they make no sense")
            }
        } catch {
            note("books of peers", try Self.cause(error))
        }
        do {
            _ = try reader.losses()
        } catch {
            note("books of losses", error.cause)
        }
    }

    private mutating func note(_ subject: String, _ cause: String) {
        let damage = Verification.Damage(subject: subject, cause: cause, records: 0)
        found.damages.append(damage)
    }

    // MARK: The cold tier

    private mutating func check(_ segment: SegmentRow) throws {
        var one = Verification()
        var read = 0
        do {
            let checked = SegmentCheck(segment, catalog, reader.cold, isDeep: isDeep)
            try checked.run(reader.segments.file(segment.name), reader.database, &one) {
                read += $0
                board.add(read: $0)
            }
        } catch {
            let cause =
                Files.exists(reader.segments.file(segment.name))
                ? try Self.causeOfFile(error) : "its file is gone"
            one.add(BatchName(segment: segment.name), records: segment.row.count, cause)
        }
        board.add(read: segment.row.raw - read)
        if !one.isSound, try !isListed(segment.name) {
            // It became part of another while it was looked at.
            found.moved += 1
            return
        }
        found.segments += 1
        found.add(one)
    }

    /// As `cause`; a file that cannot be opened is damage as well.
    private static func causeOfFile(_ error: any Error) throws -> String {
        if let error = error as? SQLiteError, error.isCannotOpen { return error.message }
        return try cause(error)
    }

    private func isListed(_ name: String) throws -> Bool {
        let find = try reader.database.prepare("SELECT 1 FROM segment WHERE name = ?")
        try find.bind(1, name)
        return try find.step()
    }
}
