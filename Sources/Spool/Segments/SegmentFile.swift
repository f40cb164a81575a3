internal import LinuxIO
internal import SQLite

/// One segment file, open for reading: no lock, no log, nothing that could hold anybody up.
///
/// One thread owns it. Its bytes may be anything.
final class SegmentFile {
    /// The file's name in the folder of segments.
    let name: String
    let path: String
    let database: Database
    private let find: Statement

    /// Opens the file at `path`.
    init(_ path: String) throws {
        name = Files.name(of: path)
        self.path = path
        let database = try Database(path: path, mode: .immutable)
        // A batch is read once: there is nothing to keep. And no mapping: a file that somebody cuts
        // off would end the process.
        try database.execute(
            "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA cache_size=-256"
        )
        guard try database.integer("PRAGMA application_id") == SegmentSchema.application else {
            throw DamagedBatch(reason: "it is no segment")
        }
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version == SegmentSchema.version else {
            throw DamagedBatch(reason: "its format \(version) is not known")
        }
        find = try database.prepare("SELECT data, crc, streams FROM batch WHERE id = ?")
        self.database = database
    }

    /// Hands out the plain columns of every batch, and its groups as bytes.
    func forEach(_ body: (BatchRow, UnsafeRawBufferPointer) -> Void) throws {
        let list = try database.prepare("SELECT \(BatchRow.coldColumns) FROM batch ORDER BY id")
        while try list.step() {
            let row = BatchRow(cold: list)
            list.withBlob(8) { body(row, $0) }
        }
    }

    /// The bits of the word filters, by batch; one that is damaged is as one that is not there.
    func words() throws -> [Int64: [UInt8]] {
        var found: [Int64: [UInt8]] = [:]
        do {
            let list = try database.prepare("SELECT batch, bloom FROM words")
            while try list.step() {
                if let bits = WordFilter.bits(list.blob(1)) { found[list.integer(0)] = bits }
            }
        } catch {
            guard error.isDamaged else { throw error }
        }
        return found
    }

    /// Bytes of a batch as it is stored; nil where that cannot be read.
    func packedBytes(_ batch: Int64) throws -> Int64? {
        do {
            let find = try database.prepare("SELECT length(data) FROM batch WHERE id = ?")
            try find.bind(1, batch)
            return try find.step() ? find.integer(0) : nil
        } catch {
            guard error.isDamaged else { throw error }
            return nil
        }
    }

    /// A batch as it is stored, and its word filter.
    struct Packed: Equatable {
        var data: [UInt8]
        var checksum: Int64
        var words: [UInt8]
    }

    /// Reads a batch as it is stored.
    func packed(_ batch: Int64) throws -> Packed {
        let find = try database.prepare(
            """
            SELECT b.data, b.crc, w.bloom FROM batch b JOIN words w ON w.batch = b.id
            WHERE b.id = ?
            """
        )
        try find.bind(1, batch)
        guard try find.step() else { throw DamagedBatch(reason: "its row is gone") }
        return Packed(data: find.blob(0), checksum: find.integer(1), words: find.blob(2))
    }

    /// The groups of a batch; nil where they are damaged.
    func groups(_ row: BatchRow) throws -> [BatchGroup]? {
        defer { find.reset() }
        try find.bind(1, row.id)
        guard try find.step() else { return nil }
        return find.withBlob(2) { row.groups(from: $0) }
    }

    /// Takes a batch into `decoder` and gives its groups.
    ///
    /// - Throws: `DamagedBatch`, or what SQLite says.
    func open(_ row: BatchRow, _ decoder: ColumnBatchDecoder) throws -> [BatchGroup] {
        defer { find.reset() }
        try find.bind(1, row.id)
        guard try find.step() else { throw DamagedBatch(reason: "its row is gone") }
        guard let groups = find.withBlob(2, { row.groups(from: $0) }) else {
            throw DamagedBatch(reason: "its row is damaged")
        }
        let checksum = find.integer(1)
        let result = find.withBlob(0) { blob in
            Result { () throws(DamagedBatch) in try decoder.open(blob) }
        }
        try result.get()
        guard Int64(decoder.sum) == checksum else {
            throw DamagedBatch(reason: "checksum differs from its row")
        }
        guard decoder.count == row.count, decoder.raw == row.raw else {
            throw DamagedBatch(reason: "counts differ from its row")
        }
        return groups
    }

    /// What the file says of itself.
    func meta() throws -> SegmentSchema.Meta {
        let list = try database.prepare("SELECT k, v FROM meta")
        var values: [String: Int64] = [:]
        while try list.step() { values[list.text(0)] = list.integer(1) }
        guard let lo = values["lo"], let hi = values["hi"], let source = values["source"] else {
            throw DamagedBatch(reason: "it does not say what it stands for")
        }
        return SegmentSchema.Meta(lo: lo, hi: hi, source: source)
    }
}
