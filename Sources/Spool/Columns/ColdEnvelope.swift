internal import Basics
internal import Telemetry

/// Frame 1 of a cold batch: the numbers of its records, column after column.
///
/// Records of a batch are sorted by stream and time, so that differences from one to the next are
/// small without any knowledge of who sent them.
///
/// | column | what is written |
/// |---|---|
/// | group | index into the table of (stream, instance, level) |
/// | sequence, time, store | as they are |
/// | boot, order | difference to time |
/// | received | as it is, or its difference to time: a flag says which |
/// | length | bytes of the payload; only where payloads are kept as rows |
enum ColdEnvelope {
    /// Who sent a record, where it belongs, and how bad it is.
    struct Group: Hashable {
        var stream: Int64
        var instance: Int64
        var level: UInt8
    }

    /// Appends the description and then the planes of all columns.
    static func encode(_ records: ArraySlice<ColumnRecord>, lengths: Bool) -> [UInt8] {
        var meta = ByteWriter(capacity: 128)
        var lane = Lane()
        var groups: [Group] = []
        var numbers: [Group: Int] = [:]
        var last: (group: Group, number: Int)?
        let groupOf = records.map { record in
            let group = Group(
                stream: record.stream,
                instance: record.instance,
                level: record.envelope.level.rawValue
            )
            if let last, last.group == group { return Int64(last.number) }
            let number = numbers[group] ?? groups.count
            if number == groups.count {
                numbers[group] = number
                groups.append(group)
            }
            last = (group, number)
            return Int64(number)
        }
        meta.varint(UInt64(groups.count))
        for group in groups {
            meta.zigzag(group.stream)
            meta.zigzag(group.instance)
            meta.u8(group.level)
        }
        func column(_ values: [Int64]) {
            values.withUnsafeBufferPointer {
                IntegerColumn.encode($0, withBounds: false, meta: &meta, lane: &lane)
            }
        }
        column(groupOf)
        column(records.map { Int64(bitPattern: $0.envelope.sequence) })
        column(records.map(\.envelope.time))
        column(records.map { Int64(bitPattern: $0.envelope.boot) &- $0.envelope.time })
        let latency = records.map { $0.envelope.received &- $0.envelope.time }
        let isShared = changes(records.map(\.envelope.received)) < changes(latency)
        meta.u8(isShared ? 1 : 0)
        column(isShared ? records.map(\.envelope.received) : latency)
        column(records.map { $0.envelope.order &- $0.envelope.time })
        column(records.map { Int64(bitPattern: $0.store) })
        if lengths { column(records.map { Int64($0.payload.count) }) }
        var out = ByteWriter(capacity: meta.count + lane.count + 8)
        out.varint(UInt64(meta.count))
        out.raw(meta.bytes)
        out.raw(lane.bytes)
        return out.bytes
    }

    /// How often a value differs from the one before.
    private static func changes(_ values: [Int64]) -> Int {
        var count = 0
        for index in values.indices.dropFirst() where values[index] != values[index - 1] {
            count += 1
        }
        return count
    }
}
