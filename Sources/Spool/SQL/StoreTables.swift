internal import SQLite

/// `batches` and `segments`: how the records are kept.
enum StoreTables {
    /// One row a batch, damaged ones too.
    ///
    /// `error` is NULL where a batch is sound; to find that out, each is unpacked, but only where a
    /// statement looks at that column.
    static func batches(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("id", "INTEGER"), ("records", "INTEGER"), ("bytes", "INTEGER"),
            ("packed", "INTEGER"), ("first_store", "INTEGER"), ("last_store", "INTEGER"),
            ("earliest", "TEXT"), ("latest", "TEXT"), ("error", "TEXT"),
        ]
        return ListTable("batches", columns, count: { try source.figures().batches }) { checks in
            var scan = try source.scan(Query())
            let packed = try source.packedBytes()
            var rows: [(id: Int64, values: [SQLValue])] = []
            for id in scan.report.batches {
                let error = scan.report.reason(ofBatch: id) ?? ""
                rows.append((id, damaged(id, scan.report.records(inBatch: id), packed[id], error)))
            }
            for listed in scan.rows {
                let row = listed.row
                if checks { _ = try source.open(row, &scan, withPayload: true) }
                let error = scan.report.reason(ofBatch: row.id)
                rows.append((row.id, sound(row, packed[row.id], error)))
            }
            // Told by the column itself; only what no column tells is noted.
            return rows.sorted { $0.id < $1.id }.map(\.values)
        }
    }

    private static func sound(_ row: BatchRow, _ packed: Int64?, _ error: String?) -> [SQLValue] {
        [
            .integer(row.id), .integer(Int64(row.count)), .integer(Int64(row.raw)),
            packed.map { .integer($0) } ?? .null, .unsigned(row.firstStore),
            .unsigned(row.lastStore), BookTables.stamp(row.time0), BookTables.stamp(row.time1),
            error.map { .text($0) } ?? .null,
        ]
    }

    private static func damaged(
        _ id: Int64,
        _ records: Int,
        _ packed: Int64?,
        _ error: String
    ) -> [SQLValue] {
        [
            .integer(id), .integer(Int64(records)), .null, packed.map { .integer($0) } ?? .null,
            .null, .null, .null, .null, .text(error),
        ]
    }

    /// One row a file of the cold tier; there is none yet.
    static func segments(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("name", "TEXT"), ("batches", "INTEGER"), ("records", "INTEGER"),
            ("bytes", "INTEGER"), ("packed", "INTEGER"), ("first_store", "INTEGER"),
            ("last_store", "INTEGER"), ("earliest", "TEXT"), ("latest", "TEXT"),
            ("error", "TEXT"),
        ]
        return ListTable("segments", columns, count: { 0 }) { _ in [] }
    }
}
