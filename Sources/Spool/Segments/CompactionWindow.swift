internal import Basics
internal import LinuxIO
internal import Telemetry

/// Records on their way from the hot tier into a segment, unpacked.
///
/// Invariants:
/// 1. After `sort` places go by stream, order, instance, sequence and store number. Records and
///    payloads stay where they are; a batch's are brought together for whoever packs it.
/// 2. A portion is of one stream, or of several whole ones that are small; portions follow each
///    other and cover all records.
/// 3. `units` has every portion and every batch that is taken as it is once, by stream and order.
struct CompactionWindow {
    /// A cold batch of one stream that is taken over as it is.
    struct Copy {
        var file: SegmentFile
        var row: BatchRow
        var groups: [BatchGroup]
    }

    /// What makes a batch of the segment.
    enum Unit {
        case records(Range<Int>)
        case copy(Copy)
    }

    private var records: [ColumnRecord] = []
    private(set) var payloads: [UInt8] = []
    /// Where the records lie in `records`, in the order of the segment.
    private var sorted: [Int32] = []
    /// Which places make a batch.
    private(set) var portions: [Range<Int>] = []
    private var copies: [Copy] = []
    /// The batches of the segment.
    private(set) var units: [Unit] = []

    /// An empty window with room for what is to come.
    init(records count: Int, bytes: Int) {
        records.reserveCapacity(count)
        payloads.reserveCapacity(bytes)
        // A tenth of the time goes into the first touch of this memory otherwise.
        records.withUnsafeBytes {
            MemoryAdvice.fillsWhole(
                $0.baseAddress,
                count: count * MemoryLayout<ColumnRecord>.stride
            )
        }
        payloads.withUnsafeBytes { MemoryAdvice.fillsWhole($0.baseAddress, count: bytes) }
    }

    /// Takes in a hot batch.
    mutating func add(
        _ row: BatchRow,
        _ groups: [BatchGroup],
        _ columns: EnvelopeColumns.Decoded,
        _ payload: [UInt8]
    ) {
        let base = payloads.count
        payloads.append(contentsOf: payload)
        var start = 0
        for index in columns.envelopes.indices {
            let group = groups[columns.groupOf[index]]
            let end = columns.ends[index]
            records.append(
                ColumnRecord(
                    stream: group.stream,
                    instance: group.instance,
                    envelope: columns.envelopes[index],
                    store: row.firstStore &+ UInt64(index),
                    payload: base + start..<base + end
                )
            )
            start = end
        }
    }

    /// Takes in a cold batch, or those of its records that stay.
    mutating func add(
        _ cold: [ColumnRecord],
        _ payload: ColumnBatchDecoder.Payloads,
        staying: (ColumnRecord) -> Bool = { _ in true }
    ) {
        var start = 0
        for (record, end) in zip(cold, payload.ends) {
            if staying(record) {
                var copy = record
                copy.payload = payloads.count..<payloads.count + end - start
                payloads.append(contentsOf: payload.bytes[start..<end])
                records.append(copy)
            }
            start = end
        }
    }

    /// Takes a cold batch of one stream as it is.
    mutating func take(_ copy: Copy) {
        copies.append(copy)
    }

    /// Records in all units.
    var count: Int { copies.reduce(records.count) { $0 + $1.row.count } }

    /// Sorts all, and cuts it into batches.
    mutating func sort() {
        sorted = (0..<Int32(truncatingIfNeeded: records.count)).map { $0 }
        records.withUnsafeBufferPointer { records in
            sorted.sort { Self.precedes(records[Int($0)], records[Int($1)]) }
        }
        cut()
    }

    /// The record at a place of the segment; its payload is a range of `payloads`.
    subscript(place: Int) -> ColumnRecord { records[Int(sorted[place])] }

    /// Brings together what makes a batch: its records, whose payloads lie one after another in
    /// `bytes` then.
    func gather(_ portion: Range<Int>, into bytes: inout [UInt8]) -> [ColumnRecord] {
        bytes.removeAll(keepingCapacity: true)
        return payloads.withUnsafeBytes { source in
            portion.map { place in
                var record = self[place]
                let start = bytes.count
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[record.payload]))
                record.payload = start..<bytes.count
                return record
            }
        }
    }

    private static func precedes(_ left: ColumnRecord, _ right: ColumnRecord) -> Bool {
        if left.stream != right.stream { return left.stream < right.stream }
        if left.envelope.order != right.envelope.order {
            return left.envelope.order < right.envelope.order
        }
        if left.instance != right.instance { return left.instance < right.instance }
        if left.envelope.sequence != right.envelope.sequence {
            return left.envelope.sequence < right.envelope.sequence
        }
        return left.store < right.store
    }

    // MARK: Cutting

    private mutating func cut() {
        portions = []
        var small: [Int32] = []
        var large: [Int32] = []
        var parts: [Range<Int>] = []
        var start = 0
        while start < sorted.count {
            let stream = records[Int(sorted[start])].stream
            var end = start
            var raw = 0
            while end < sorted.count, records[Int(sorted[end])].stream == stream {
                raw += records[Int(sorted[end])].payload.count
                end += 1
            }
            if raw < SpoolLimits.sharedStreamBytes {
                small.append(contentsOf: sorted[start..<end])
            } else {
                let base = large.count
                large.append(contentsOf: sorted[start..<end])
                parts += pieces(large, base, raw)
            }
            start = end
        }
        let base = large.count
        let raw = small.reduce(0) { $0 + records[Int($1)].payload.count }
        large.append(contentsOf: small)
        sorted = large
        portions = parts + pieces(sorted, base, raw)
        arrange(own: parts.count)
    }

    /// Puts the batches into their order; those that several streams share come last.
    private mutating func arrange(own: Int) {
        var found = portions[..<own].map { portion in
            let first = records[Int(sorted[portion.lowerBound])]
            return (first.stream, first.envelope.order, Unit.records(portion))
        }
        found += copies.map { ($0.groups.first?.stream ?? 0, $0.row.t0, Unit.copy($0)) }
        if !copies.isEmpty { found.sort { ($0.0, $0.1) < ($1.0, $1.1) } }
        units = found.map(\.2) + portions[own...].map { .records($0) }
    }

    /// Cuts what comes from `start` on into batches of about the same size.
    private func pieces(_ all: [Int32], _ start: Int, _ raw: Int) -> [Range<Int>] {
        if start == all.count { return [] }
        let most = SpoolLimits.coldBatchBytes
        let target = raw / ((raw + most - 1) / most + (raw == 0 ? 1 : 0))
        var found: [Range<Int>] = []
        var begin = start
        var held = 0
        for index in start..<all.count {
            let size = records[Int(all[index])].payload.count
            let isFull = held >= target || held + size > most
            if index > begin, isFull || index - begin >= SpoolLimits.batchRecords {
                found.append(begin..<index)
                begin = index
                held = 0
            }
            held += size
        }
        found.append(begin..<all.count)
        return found
    }
}
