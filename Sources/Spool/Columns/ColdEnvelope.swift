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
        var level: Level
    }

    /// What frame 1 holds, and where blocks of it should begin.
    struct Encoded {
        var bytes: [UInt8]
        var cuts: [Int]
    }

    /// Writes the description and then the planes of all columns.
    static func encode(_ records: ArraySlice<ColumnRecord>, lengths: Bool) -> Encoded {
        var meta = ByteWriter(capacity: 128)
        var lane = Lane()
        var groups: [Group] = []
        var numbers: [Group: Int] = [:]
        var last: (group: Group, number: Int)?
        let groupOf = records.map { record in
            let group = Group(
                stream: record.stream,
                instance: record.instance,
                level: record.envelope.level
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
            meta.u8(group.level.rawValue)
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
        let start = out.count
        out.raw(lane.bytes)
        return Encoded(bytes: out.bytes, cuts: lane.cuts.map { $0 + start })
    }

    /// How often a value differs from the one before.
    private static func changes(_ values: [Int64]) -> Int {
        var count = 0
        for index in values.indices.dropFirst() where values[index] != values[index - 1] {
            count += 1
        }
        return count
    }

    /// Reads the numbers of `blob`'s records from its unpacked frame 1.
    ///
    /// Payloads are ranges of the bytes that all payloads make one after another; without their
    /// lengths, in columns, they are empty.
    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ blob: ColumnBlob,
        _ arena: Arena
    ) throws(DamagedBatch) -> [ColumnRecord] {
        var reader = try lanes(bytes)
        let groups = try readGroups(&reader, records: blob.count)
        let count = blob.count
        func column() throws(DamagedBatch) -> UnsafePointer<Int64> {
            try IntegerNode(&reader, count: count, lane: .numbers).decode(arena)
        }
        let groupOf = try IntegerNode(&reader, count: count, lane: .numbers)
            .decodeIDs(arena, limit: groups.count)
        let (sequence, time, boot) = (try column(), try column(), try column())
        let isShared = try reader.count(limit: 1) == 1
        let (received, order, store) = (try column(), try column(), try column())
        let lengths = blob.layout == .rows ? try column() : nil
        guard reader.isAtEnd else { throw DamagedBatch(reason: "bytes left over") }
        var records: [ColumnRecord] = []
        records.reserveCapacity(count)
        var end = 0
        for index in 0..<count {
            let group = groups[Int(groupOf[index])]
            let length = lengths?[index] ?? 0
            guard length >= 0, length <= Int64(blob.raw - end) else {
                throw DamagedBatch(reason: "lengths make no sense")
            }
            let envelope = Envelope(
                sequence: UInt64(bitPattern: sequence[index]),
                level: group.level,
                time: time[index],
                boot: UInt64(bitPattern: boot[index] &+ time[index]),
                received: isShared ? received[index] : received[index] &+ time[index],
                order: order[index] &+ time[index]
            )
            let record = ColumnRecord(
                stream: group.stream,
                instance: group.instance,
                envelope: envelope,
                store: UInt64(bitPattern: store[index]),
                payload: end..<end + Int(length)
            )
            records.append(record)
            end += Int(length)
        }
        guard lengths == nil || end == blob.raw else {
            throw DamagedBatch(reason: "lengths make no sense")
        }
        return records
    }

    private static func lanes(_ bytes: UnsafeRawBufferPointer) throws(DamagedBatch) -> LaneReader {
        do {
            var head = ByteReader(bytes)
            let length = Int(clamping: try head.varint())
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            return LaneReader(
                meta: try head.raw(length),
                numbers: try head.raw(head.remaining),
                ids: nothing,
                texts: nothing
            )
        } catch {
            throw .cutOff
        }
    }

    private static func readGroups(
        _ reader: inout LaneReader,
        records: Int
    ) throws(DamagedBatch) -> [Group] {
        let count = try reader.count(limit: records)
        var groups: [Group] = []
        groups.reserveCapacity(count)
        for _ in 0..<count {
            let (stream, instance) = (try reader.zigzag(), try reader.zigzag())
            guard let level = Level(rawValue: try reader.byte()) else {
                throw DamagedBatch(reason: "a level is not known")
            }
            groups.append(Group(stream: stream, instance: instance, level: level))
        }
        return groups
    }
}
