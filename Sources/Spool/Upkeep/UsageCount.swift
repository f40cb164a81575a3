internal import LinuxIO
internal import SQLite

extension SpoolReader {
    /// What the spool takes on the disk, by peer and kind; from plain columns, no batch is opened.
    ///
    /// Where several peers or kinds share a batch, its bytes are cut in proportion to records.
    public mutating func usage() throws(SpoolError) -> SpoolUsage {
        do {
            var scan = try scan(Query())
            while true {
                do {
                    return try usage(of: &scan)
                } catch is Vanished {
                    scan = try self.scan(again: scan)
                }
            }
        } catch {
            throw SpoolError("sum up spool", directory, error)
        }
    }

    private mutating func usage(of scan: inout Scan) throws -> SpoolUsage {
        var count = UsageCount()
        var names: Set<String> = []
        let packed = try database.prepare("SELECT length(data) FROM batch WHERE id = ?")
        for row in scan.rows {
            if case .segment(let segment) = row.place {
                names.insert(segment.name)
                try add(segment, &scan, &count)
                continue
            }
            guard let groups = try groups(row) else {
                if try isMoved(row.row.id) { throw Vanished() }
                scan.report.add(row.name, records: row.row.count, reason: "its row is damaged")
                continue
            }
            defer { packed.reset() }
            try packed.bind(1, row.row.id)
            let bytes = try packed.step() ? UInt64(clamping: packed.integer(0)) : 0
            count.add(groups, row.row, bytes, \.hotBytes)
        }
        let streams = try streamNames()
        var usage = SpoolUsage()
        usage.streams = count.shares.map { id, share in
            let name = streams[id] ?? (peer: "", kind: "")
            return SpoolUsage.Stream(peer: name.peer, kind: name.kind, share: share)
        }
        usage.streams.sort { ($0.peer, $0.kind) < ($1.peer, $1.kind) }
        usage.segments = UInt64(names.count)
        usage.sizes = sizes(names)
        usage.report = scan.report
        return usage
    }

    /// Adds a segment by its batches; where they cannot be read, as it is listed.
    private mutating func add(
        _ segment: SegmentRow,
        _ scan: inout Scan,
        _ count: inout UsageCount
    ) throws {
        let before = scan.report.damagedBatches.count
        let batches = try batches(of: segment, &scan)
        var parts: [(row: BatchRow, groups: [BatchGroup], bytes: UInt64)] = []
        if scan.report.damagedBatches.count == before {
            for batch in batches {
                guard case .cold(let file) = batch.place, let groups = try file.groups(batch.row)
                else { continue }
                let bytes = UInt64(clamping: try file.packedBytes(batch.row.id) ?? 0)
                parts.append((batch.row, groups, bytes))
            }
        }
        let size = UInt64(clamping: segment.bytes)
        guard parts.count == segment.batches else {
            let list = try database.prepare("SELECT streams FROM segment WHERE name = ?")
            try list.bind(1, segment.name)
            guard try list.step() else { throw Vanished() }
            let groups = list.withBlob(0) { segment.row.groups(from: $0) }
            return count.add(groups ?? [], segment.row, size, \.coldBytes)
        }
        // What a file has beside its batches goes with them.
        var cut = Proportion(size, parts: parts.reduce(0) { $0 + $1.bytes })
        for part in parts { count.add(part.groups, part.row, cut.next(part.bytes), \.coldBytes) }
    }

    private func streamNames() throws -> [Int64: (peer: String, kind: String)] {
        let list = try database.prepare("SELECT id, peer, kind FROM stream")
        var names: [Int64: (peer: String, kind: String)] = [:]
        while try list.step() { names[list.integer(0)] = (list.text(1), list.text(2)) }
        return names
    }

    private func sizes(_ listed: Set<String>) -> SpoolUsage.Sizes {
        func size(_ path: String) -> UInt64 { UInt64(clamping: Files.size(path)) }
        var sizes = SpoolUsage.Sizes()
        sizes.hot = size(Schema.database(directory))
        sizes.log = size(Schema.log(directory))
        sizes.index = size(Schema.index(directory))
        sizes.segments = listed.reduce(0) { $0 + size(segments.file($1)) }
        let all = Files.treeSize(directory)
        sizes.other = all - min(all, sizes.total)
        return sizes
    }
}

/// Shares by stream while they are added up.
struct UsageCount {
    private(set) var shares: [Int64: SpoolUsage.Share] = [:]

    /// Adds a batch of so many bytes, cut in proportion to the records of its streams.
    mutating func add(
        _ groups: [BatchGroup],
        _ row: BatchRow,
        _ bytes: UInt64,
        _ tier: WritableKeyPath<SpoolUsage.Share, UInt64>
    ) {
        let records = UInt64(max(0, row.count))
        var raw = Proportion(UInt64(max(0, row.raw)), parts: records)
        var packed = Proportion(bytes, parts: records)
        for group in groups {
            let count = UInt64(max(0, group.count))
            var share = shares[group.stream] ?? SpoolUsage.Share()
            share.records += count
            share.rawBytes += raw.next(count)
            share[keyPath: tier] += packed.next(count)
            shares[group.stream] = share
        }
    }
}
