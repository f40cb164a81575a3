internal import LinuxIO
internal import SQLite
internal import Telemetry

extension SpoolReader {
    /// The batches of a segment that have to be looked at; none where it cannot be read, which is
    /// reported.
    ///
    /// - Throws: `Vanished` where the segment has become part of another.
    mutating func batches(of segment: SegmentRow, _ scan: inout Scan) throws -> [Scan.Row] {
        do {
            return try scan.batches(of: try file(segment.name))
        } catch let error as DamagedBatch {
            report(segment, error.reason, &scan)
        } catch let error as SQLiteError where error.isDamaged {
            report(segment, error.message, &scan)
        } catch let error as SQLiteError where error.isCannotOpen {
            let isThere = Files.exists(segments.file(segment.name))
            if try !isListed(segment.name) { throw Vanished() }
            if isThere { throw error }
            report(segment, "its file is gone", &scan)
        }
        return []
    }

    private func report(_ segment: SegmentRow, _ reason: String, _ scan: inout Scan) {
        let name = BatchName(segment: segment.name)
        scan.report.add(name, records: segment.row.count, reason: reason)
    }

    /// An open segment; the latest few are kept.
    mutating func file(_ name: String) throws -> SegmentFile {
        if let known = files.first(where: { $0.name == name }) { return known }
        let file = try SegmentFile(segments.file(name))
        if files.count >= SpoolLimits.segmentsOpen { files.removeFirst() }
        files.append(file)
        return file
    }

    /// True if a segment stands for a hot batch by now.
    func isMoved(_ batch: Int64) throws -> Bool {
        guard try Schema.hasSegments(database) else { return false }
        let find = try database.prepare("SELECT 1 FROM segment WHERE ? BETWEEN lo AND hi")
        try find.bind(1, batch)
        return try find.step()
    }

    private func isListed(_ name: String) throws -> Bool {
        let find = try database.prepare("SELECT 1 FROM segment WHERE name = ?")
        try find.bind(1, name)
        return try find.step()
    }

    /// The records of a cold batch that match, found in its columns; nil where there is none.
    ///
    /// Only payloads of matches are put together, and only where they are wanted.
    mutating func unpack(
        _ row: BatchRow,
        _ file: SegmentFile,
        _ scan: borrowing Scan,
        withPayload: Bool
    ) throws -> Unpacked? {
        let groups = try file.open(row, cold)
        guard scan.catalog.knows(groups) else {
            throw DamagedBatch(reason: "its names are not known")
        }
        var candidates: [Int32]?
        if let text = scan.query.text {
            let found = try cold.search(text)
            if found.isEmpty { return nil }
            candidates = found
        }
        let matches = try ColdMatches(
            try cold.envelopes(),
            candidates,
            groups,
            scan.query,
            scan.catalog
        )
        if matches.indexes.isEmpty { return nil }
        var unpacked = Unpacked(
            groups: groups,
            columns: matches.columns,
            stores: matches.stores,
            payload: []
        )
        if withPayload {
            let isAll = matches.indexes.count == cold.count
            let found = try isAll ? cold.payloads() : cold.payloads(of: matches.indexes)
            unpacked.payload = found.bytes
            unpacked.columns.ends = found.ends
        }
        return unpacked
    }
}

/// Which records of a cold batch match as far as their numbers go.
private struct ColdMatches {
    private(set) var indexes: [Int32] = []
    private(set) var columns = EnvelopeColumns.Decoded()
    private(set) var stores: [UInt64] = []

    private struct Key: Hashable {
        var stream: Int64
        var instance: Int64
        var level: Level
    }

    /// - Parameter candidates: those that have the text, or nil for all.
    init(
        _ records: [ColumnRecord],
        _ candidates: [Int32]?,
        _ groups: [BatchGroup],
        _ query: Query,
        _ catalog: Catalog
    ) throws(DamagedBatch) {
        var places: [Key: Int] = [:]
        for (place, group) in groups.enumerated() {
            let level = Level(rawValue: group.level) ?? .debug
            places[Key(stream: group.stream, instance: group.instance, level: level)] = place
        }
        let wanted = groups.map { catalog.wants($0, query) }
        let count = candidates?.count ?? records.count
        indexes.reserveCapacity(count)
        columns.envelopes.reserveCapacity(count)
        columns.groupOf.reserveCapacity(count)
        stores.reserveCapacity(count)
        let checksTime = query.since != nil || query.until != nil
        let checksRecords = query.conditions.checksRecords
        var last: (key: Key, place: Int)?
        for place in 0..<count {
            let index = candidates?[place] ?? Int32(truncatingIfNeeded: place)
            let record = records[Int(index)]
            let envelope = record.envelope
            let key = Key(
                stream: record.stream,
                instance: record.instance,
                level: envelope.level
            )
            if last?.key != key {
                guard let found = places[key] else {
                    throw DamagedBatch(reason: "its row has other groups")
                }
                last = (key, found)
            }
            let group = last?.place ?? 0
            guard wanted[group] else { continue }
            if checksTime, !query.wants(time: envelope.time) { continue }
            if checksRecords, !query.conditions.wants(envelope, store: record.store) { continue }
            indexes.append(index)
            columns.envelopes.append(envelope)
            columns.groupOf.append(group)
            stores.append(record.store)
        }
        columns.ends = [Int](repeating: 0, count: indexes.count)
    }
}
