internal import SQLite
internal import Telemetry

/// `groups`, `batches` and `segments`: how the records are kept.
enum StoreTables {
    /// One row a batch, damaged ones too; those of the cold tier have a segment.
    ///
    /// `error` is NULL where a batch is sound; to find that out, each is unpacked, but only where a
    /// statement looks at that column.
    static func batches(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("id", "INTEGER"), ("segment", "TEXT"), ("records", "INTEGER"), ("bytes", "INTEGER"),
            ("packed", "INTEGER"), ("first_store", "INTEGER"), ("last_store", "INTEGER"),
            ("earliest", "TEXT"), ("latest", "TEXT"), ("error", "TEXT"),
        ]
        return ListTable("batches", columns, count: { try source.figures().batches }) { checks in
            // Told by the column itself; only what no column tells is noted.
            try source.listing { scan in
                var rows: [(name: BatchName, values: [SQLValue])] = []
                for listed in try source.everyBatch(&scan) {
                    if checks { _ = try source.open(listed, &scan, withPayload: true) }
                    rows.append((listed.name, sound(listed, try source.packed(listed), scan)))
                }
                let known = Set(rows.map(\.name))
                for name in scan.report.names where !known.contains(name) {
                    rows.append((name, damaged(name, scan.report)))
                }
                return rows.sorted { $0.name < $1.name }.map(\.values)
            }
        }
    }

    private static func sound(_ listed: Scan.Row, _ packed: Int64?, _ scan: Scan) -> [SQLValue] {
        let row = listed.row
        return [
            .integer(row.id), listed.name.segment.map { .text($0) } ?? .null,
            .integer(Int64(row.count)), .integer(Int64(row.raw)),
            packed.map { .integer($0) } ?? .null, .unsigned(row.firstStore),
            .unsigned(row.lastStore), BookTables.stamp(row.time0), BookTables.stamp(row.time1),
            scan.report.reason(listed.name).map { .text($0) } ?? .null,
        ]
    }

    private static func damaged(_ name: BatchName, _ report: ScanReport) -> [SQLValue] {
        [
            name.id == 0 ? .null : .integer(name.id),
            name.segment.map { .text($0) } ?? .null, .integer(Int64(report.records(name))),
            .null, .null, .null, .null, .null, .null, .text(report.reason(name) ?? ""),
        ]
    }

    /// One row a file of the cold tier.
    ///
    /// `error` is NULL where the file can be opened and all its batches are listed; it is looked at
    /// only where a statement asks.
    static func segments(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("name", "TEXT"), ("batches", "INTEGER"), ("records", "INTEGER"),
            ("bytes", "INTEGER"), ("packed", "INTEGER"), ("first_store", "INTEGER"),
            ("last_store", "INTEGER"), ("earliest", "TEXT"), ("latest", "TEXT"),
            ("error", "TEXT"),
        ]
        return ListTable("segments", columns, count: { try source.figures().segments }) { checks in
            try source.listing { scan in
                var rows: [[SQLValue]] = []
                for listed in scan.rows {
                    guard case .segment(let segment) = listed.place else { continue }
                    if checks { _ = try source.batches(of: segment, &scan) }
                    rows.append(row(segment, scan.report.reason(listed.name)))
                }
                return rows
            }
        }
    }

    /// One row for what a hot batch, or a whole segment, has of one instance, kind and level.
    ///
    /// Counts are sums over it: hot.db lists it all, and no batch or segment is opened.
    static func groups(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("peer", "TEXT"), ("epoch", "INTEGER"), ("kind", "TEXT"), ("level", "TEXT"),
            ("records", "INTEGER"), ("pid", "INTEGER"), ("uid", "INTEGER"), ("batch", "INTEGER"),
            ("segment", "TEXT"), ("earliest", "TEXT"), ("latest", "TEXT"),
        ]
        return ListTable("groups", columns, count: { try source.figures().batches }) { _ in
            try source.listing { scan in
                var rows: [[SQLValue]] = []
                for listed in scan.rows {
                    guard let facts = try source.factsIfListed(listed, scan) else {
                        throw Vanished()
                    }
                    // Texts that all of them have in common are made once.
                    let row = listed.row
                    let times = (BookTables.stamp(row.time0), BookTables.stamp(row.time1))
                    rows += facts.map { group($0, listed, times) }
                }
                return rows
            }
        }
    }

    private static func group(
        _ facts: GroupFacts,
        _ listed: Scan.Row,
        _ times: (SQLValue, SQLValue)
    ) -> [SQLValue] {
        let segment = listed.name.segment
        return [
            .text(facts.instance.identifier), .unsigned(facts.instance.epoch), .text(facts.kind),
            .text(Level(rawValue: facts.level)?.name ?? ""), .integer(Int64(facts.count)),
            .integer(Int64(facts.pid)), .integer(Int64(facts.uid)),
            segment == nil ? .integer(listed.row.id) : .null, segment.map { .text($0) } ?? .null,
            times.0, times.1,
        ]
    }

    private static func row(_ segment: SegmentRow, _ error: String?) -> [SQLValue] {
        [
            .text(segment.name), .integer(Int64(segment.batches)),
            .integer(Int64(segment.row.count)), .integer(Int64(segment.row.raw)),
            .integer(segment.bytes), .unsigned(segment.row.firstStore),
            .unsigned(segment.row.lastStore), BookTables.stamp(segment.row.time0),
            BookTables.stamp(segment.row.time1), error.map { .text($0) } ?? .null,
        ]
    }
}
