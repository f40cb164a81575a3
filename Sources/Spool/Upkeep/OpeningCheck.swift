internal import LinuxIO
internal import SQLite
internal import Telemetry

/// What an agent looks at in the spool that it opens, before it writes: the pages of hot.db, the
/// names that batches and segments refer to, and the checksums of hot batches.
///
/// Commits would fail for ever on a damaged page, and names that are gone would be given to others.
/// A hot.db that is too large for a start in bounded time is not looked at.
struct OpeningCheck: ~Copyable {
    private let database: Database
    private let isSmall: Bool

    /// Reads it where it is, without changing it.
    ///
    /// - Throws: what SQLite says.
    init(_ directory: String) throws {
        let database = try Database(path: Schema.database(directory), mode: .read)
        try Schema.settle(database)
        self.database = database
        isSmall = Files.size(Schema.database(directory)) <= SpoolLimits.openingBytesMax
    }

    /// True if it is of this format, or of an older one.
    func isOurs() throws -> Bool {
        if case .ours = try Schema.identity(database) { return true }
        return false
    }

    /// Why nothing can be written into it; nil where something can.
    func fault() throws -> String? {
        guard isSmall else { return nil }
        let check = try database.prepare("PRAGMA quick_check(1)")
        if try check.step(), check.text(0) != "ok" {
            return check.text(0).split(separator: "\n").last.map(String.init)
        }
        let catalog = try Catalog(database, Query())
        let hot = try database.prepare("SELECT \(BatchRow.columns) FROM batch")
        while try hot.step() {
            let row = BatchRow(hot)
            if Self.lacksNames(row, hot, catalog) { return "the names of batch \(row.id) are gone" }
        }
        guard try Schema.hasSegments(database) else { return nil }
        let cold = try database.prepare("SELECT \(SegmentRow.columns) FROM segment")
        while try cold.step() {
            let segment = SegmentRow(cold)
            if Self.lacksNames(segment.row, cold, catalog) {
                return "the names of segment \(segment.name) are gone"
            }
        }
        return nil
    }

    /// True for a sound row that refers to what is not there.
    private static func lacksNames(
        _ row: BatchRow,
        _ list: borrowing Statement,
        _ catalog: Catalog
    ) -> Bool {
        let groups = list.withBlob(8) { row.groups(from: $0) }
        return groups.map { !catalog.knows($0) } ?? false
    }

    /// The hot batches that cannot be read; the first few by name.
    func damagedBatches() throws -> [SpoolFinding] {
        guard isSmall else { return [] }
        var found: [SpoolFinding] = []
        var others = 0
        var decoder = try BatchDecoder()
        let list = try database.prepare(
            "SELECT \(BatchRow.columns), crc, data FROM batch ORDER BY id"
        )
        while try list.step() {
            let row = BatchRow(list)
            guard let cause = try Self.damage(row, list, &decoder) else { continue }
            if found.count == SpoolLimits.findingsMax {
                others += 1
                continue
            }
            let isSound = list.withBlob(8) { row.isSound($0) }
            found.append(
                SpoolFinding(
                    what: "\(BatchName(id: row.id)): \(cause)",
                    records: isSound ? UInt64(row.count) : nil,
                    times: isSound ? row.time0...row.time1 : nil
                )
            )
        }
        if others > 0 { found.append(SpoolFinding(what: "\(others) more batches are damaged")) }
        return found
    }

    private static func damage(
        _ row: BatchRow,
        _ list: borrowing Statement,
        _ decoder: inout BatchDecoder
    ) throws -> String? {
        guard let groups = list.withBlob(8, { row.groups(from: $0) }) else {
            return "its row is damaged"
        }
        let checksum = list.integer(9)
        let data = list.blob(10)
        do {
            _ = try data.withUnsafeBytes { bytes in
                try decoder.decode(
                    bytes,
                    row: row,
                    groups: groups,
                    checksum: checksum,
                    withPayload: false,
                    text: nil
                )
            }
            return nil
        } catch {
            guard let damaged = error as? DamagedBatch else { throw error }
            return damaged.reason
        }
    }
}
