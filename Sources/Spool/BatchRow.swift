internal import Basics
internal import SQLite
internal import Telemetry

/// The plain columns of a batch: what can be known without its blob.
struct BatchRow: Equatable {
    var id: Int64 = 0
    /// Least and greatest `order`.
    var t0: Int64 = 0
    var t1: Int64 = 0
    /// Least and greatest `time`.
    var time0: Int64 = 0
    var time1: Int64 = 0
    /// Records.
    var count = 0
    /// Bytes of the payloads.
    var raw = 0
    /// The least store number.
    var firstStore: UInt64 = 0
    /// The greatest store number of a cold batch or a segment, whose numbers may have gaps; nil for
    /// a hot batch.
    private(set) var coldLast: UInt64?

    /// The plain columns in the order of `init(_:)`, and the groups after them as number 8.
    static let columns = "id, t0, t1, time0, time1, n, raw, first_store, streams"

    /// A row of a statement that selects `columns`.
    init(_ row: borrowing Statement) {
        id = row.integer(0)
        t0 = row.integer(1)
        t1 = row.integer(2)
        time0 = row.integer(3)
        time1 = row.integer(4)
        count = Int(row.integer(5))
        raw = Int(row.integer(6))
        firstStore = UInt64(bitPattern: row.integer(7))
    }

    /// The plain columns of a cold batch or a segment: the greatest store number is number 9.
    static let coldColumns = columns + ", last_store"

    /// A row of a statement that selects `coldColumns`.
    init(cold row: borrowing Statement) {
        self.init(row)
        coldLast = UInt64(bitPattern: row.integer(9))
    }

    /// A row that has its records still to come.
    init(firstStore: UInt64) {
        t0 = .max
        t1 = .min
        time0 = .max
        time1 = .min
        self.firstStore = firstStore
    }

    /// A cold batch or segment that has its records still to come.
    init(cold id: Int64) {
        self.init(firstStore: .max)
        self.id = id
        coldLast = 0
    }

    /// The greatest store number.
    var lastStore: UInt64 { coldLast ?? firstStore &+ UInt64(max(1, count)) &- 1 }

    /// Takes in a record of a cold batch.
    mutating func add(_ record: ColumnRecord) {
        t0 = min(t0, record.envelope.order)
        t1 = max(t1, record.envelope.order)
        time0 = min(time0, record.envelope.time)
        time1 = max(time1, record.envelope.time)
        count += 1
        raw += record.payload.count
        firstStore = min(firstStore, record.store)
        coldLast = max(coldLast ?? 0, record.store)
    }

    /// Takes in a cold batch of a segment.
    mutating func add(_ batch: BatchRow) {
        t0 = min(t0, batch.t0)
        t1 = max(t1, batch.t1)
        time0 = min(time0, batch.time0)
        time1 = max(time1, batch.time1)
        count += batch.count
        raw += batch.raw
        firstStore = min(firstStore, batch.firstStore)
        coldLast = max(coldLast ?? 0, batch.lastStore)
    }

    /// The `streams` column: the groups, and a CRC-32C over them and these plain columns, so that a
    /// changed bit in any of them is found as well.
    ///
    /// Groups of a cold batch have the bounds of their sequence numbers too.
    func streams(_ groups: [BatchGroup]) -> [UInt8] {
        var writer = ByteWriter(capacity: 16 + groups.count * 8)
        writer.varint(UInt64(groups.count))
        for group in groups {
            writer.varint(UInt64(bitPattern: group.stream))
            writer.varint(UInt64(bitPattern: group.instance))
            writer.u8(group.level)
            writer.varint(UInt64(group.count))
            guard coldLast != nil else { continue }
            writer.varint(group.sequences.lowerBound)
            writer.varint(group.sequences.upperBound - group.sequences.lowerBound)
        }
        let sum = writer.bytes.withUnsafeBytes { checksum($0) }
        writer.u32(sum)
        return writer.bytes
    }

    /// True if the `streams` column and the plain columns are as they were written.
    func isSound(_ streams: UnsafeRawBufferPointer) -> Bool {
        guard count > 0, count <= SpoolLimits.segmentRecords, raw >= 0, streams.count > 4,
            t0 <= t1, time0 <= time1, firstStore < .max - UInt64(count),
            coldLast != nil || count <= SpoolLimits.batchRecords,
            lastStore >= firstStore, lastStore - firstStore >= UInt64(count - 1), lastStore < .max
        else { return false }
        let end = streams.count - 4
        let sum = streams.loadUnaligned(fromByteOffset: end, as: UInt32.self)
        let body = UnsafeRawBufferPointer(rebasing: streams[..<end])
        return UInt32(littleEndian: sum) == checksum(body)
    }

    /// The groups of a `streams` column; nil if it, or a plain column, is damaged.
    func groups(from streams: UnsafeRawBufferPointer) -> [BatchGroup]? {
        guard isSound(streams) else { return nil }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: streams[..<(streams.count - 4)]))
        var groups: [BatchGroup] = []
        var total = 0
        do throws(TruncatedBytes) {
            for _ in 0..<(try reader.varint()) {
                var group = BatchGroup(
                    stream: Int64(bitPattern: try reader.varint()),
                    instance: Int64(bitPattern: try reader.varint()),
                    level: try reader.u8(),
                    count: Int(clamping: try reader.varint())
                )
                guard group.level < 8, group.count <= count else { return nil }
                if coldLast != nil {
                    let first = try reader.varint()
                    let (last, isOver) = first.addingReportingOverflow(try reader.varint())
                    if isOver { return nil }
                    group.sequences = first...last
                }
                total += group.count
                guard total <= count else { return nil }
                groups.append(group)
            }
        } catch {
            return nil
        }
        return total == count && reader.isAtEnd ? groups : nil
    }

    private func checksum(_ groups: UnsafeRawBufferPointer) -> UInt32 {
        let plain = (
            t0.littleEndian, t1.littleEndian, time0.littleEndian, time1.littleEndian,
            Int64(count).littleEndian, Int64(raw).littleEndian, firstStore.littleEndian,
            (coldLast ?? 0).littleEndian
        )
        let length = coldLast == nil ? 7 * 8 : 8 * 8
        return Checksum.crc32c(
            groups,
            from: withUnsafeBytes(of: plain) {
                Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[..<length]))
            }
        )
    }
}
