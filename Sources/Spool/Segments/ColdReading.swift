internal import Telemetry

/// Finds the records of a cold batch that match, in its columns.
///
/// Only payloads of matches are put together, and only where they are wanted.
struct ColdReading {
    private let query: Query
    private let catalog: Catalog
    private let withPayload: Bool

    init(_ query: Query, _ catalog: Catalog, withPayload: Bool) {
        self.query = query
        self.catalog = catalog
        self.withPayload = withPayload
    }

    /// The matches of a batch; nil where there are none.
    ///
    /// - Parameter first: which of their payloads are wanted; nil for all.
    /// - Throws: `DamagedBatch`, or what SQLite says.
    func unpack(
        _ row: BatchRow,
        _ file: SegmentFile,
        _ decoder: ColumnBatchDecoder,
        _ first: FirstFew? = nil
    ) throws -> Unpacked? {
        let groups = try file.open(row, decoder)
        guard catalog.knows(groups) else {
            throw DamagedBatch(reason: "its names are not known")
        }
        if let test = query.conditions.payload, try !decoder.mayHold(test) { return nil }
        var candidates: [Int32]?
        if let text = query.text {
            let found = try decoder.search(text)
            if found.isEmpty { return nil }
            candidates = found
        }
        let matches = try ColdMatches(
            try decoder.envelopes(),
            candidates,
            groups,
            query,
            catalog
        )
        if matches.indexes.isEmpty { return nil }
        var unpacked = Unpacked(
            groups: groups,
            columns: matches.columns,
            stores: matches.stores,
            payload: []
        )
        guard withPayload else { return unpacked }
        if let chosen = first?.choose(unpacked) {
            let places = chosen.indices.filter { chosen[$0] }
            let found = try decoder.payloads(of: places.map { matches.indexes[$0] })
            unpacked.hasPayload = chosen
            unpacked.payload = found.bytes
            for (place, end) in zip(places, found.ends) { unpacked.columns.ends[place] = end }
            var end = 0
            for place in chosen.indices {
                end = max(end, unpacked.columns.ends[place])
                unpacked.columns.ends[place] = end
            }
        } else {
            let isAll = matches.indexes.count == decoder.count
            let found = try isAll ? decoder.payloads() : decoder.payloads(of: matches.indexes)
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
