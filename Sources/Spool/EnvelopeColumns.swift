internal import Telemetry

/// Frame 1 of a batch: the numbers of its records, column after column, as differences that are
/// zero or small where a peer is in order.
///
/// Each value is a varint; nothing is lost.
///
/// | column | what is written |
/// |---|---|
/// | group | index into the batch's groups |
/// | sequence | difference to the number that would follow in this instance |
/// | time | difference to the instance's record before |
/// | boot | how far its difference departs from that of time |
/// | received | difference to the record before |
/// | order | time - order |
/// | length | bytes of the payload |
///
/// Where an instance has no record before in the batch, that of any instance stands in.
enum EnvelopeColumns {
    private static let columns = 7

    /// What the next difference of an instance is taken to.
    private struct Before {
        var sequence: UInt64 = 0
        var time: Int64 = 0
        var boot: UInt64 = 0
        var isKnown = false
    }

    /// The columns of `entries`, whose groups are given by index.
    static func encode(
        _ entries: ArraySlice<RecordBatch.Entry>,
        groupOf: [Int],
        groups: [BatchGroup]
    ) -> [UInt8] {
        let room = entries.count * 10
        let slots = groups.slots
        var before = [Before](repeating: Before(), count: slots.count)
        var last = Before()
        var received: Int64 = 0
        return [UInt8](unsafeUninitializedCapacity: room * columns) { memory, total in
            guard let base = memory.baseAddress else { return }
            func column(_ index: Int) -> VarintWriter { VarintWriter(base + index * room) }
            var (group, sequence, time) = (column(0), column(1), column(2))
            var (boot, arrival, order, length) = (column(3), column(4), column(5), column(6))
            for (index, entry) in entries.enumerated() {
                let envelope = entry.envelope
                let slot = slots.ofGroup[groupOf[index]]
                var from = before[slot]
                if !from.isKnown { (from.time, from.boot) = (last.time, last.boot) }
                let step = envelope.time &- from.time
                group.append(UInt64(groupOf[index]))
                let expected = from.sequence &+ 1
                sequence.append(signed: Int64(bitPattern: envelope.sequence &- expected))
                time.append(signed: step)
                boot.append(signed: Int64(bitPattern: envelope.boot &- from.boot) &- step)
                arrival.append(signed: envelope.received &- received)
                order.append(signed: envelope.time &- envelope.order)
                length.append(UInt64(entry.payload.count))
                received = envelope.received
                last = Before(
                    sequence: envelope.sequence,
                    time: envelope.time,
                    boot: envelope.boot,
                    isKnown: true
                )
                before[slot] = last
            }
            for (index, part) in [group, sequence, time, boot, arrival, order, length].enumerated()
            {
                (base + total).update(from: base + index * room, count: part.count)
                total += part.count
            }
        }
    }

    /// The records of a batch without their payloads.
    struct Decoded {
        var envelopes: [Envelope] = []
        /// Group of each record.
        var groupOf: [Int] = []
        /// Where each payload ends; the first begins at 0.
        var ends: [Int] = []
    }

    /// Reads `count` records; nil where the bytes cannot be what `encode` wrote.
    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        count: Int,
        groups: [BatchGroup],
        payloadBytes: Int
    ) -> Decoded? {
        guard count * columns <= bytes.count else { return nil }
        var reader = VarintReader(bytes)
        let slots = groups.slots
        var isSound = true
        let groupOf = [Int](unsafeUninitializedCapacity: count) { out, made in
            for index in 0..<count {
                let group = reader.next()
                if group >= UInt64(groups.count) { isSound = false }
                out[index] = isSound ? Int(truncatingIfNeeded: group) : 0
            }
            made = count
        }
        guard isSound, !groups.isEmpty else { return nil }
        let envelopes = [Envelope](unsafeUninitializedCapacity: count) { out, made in
            decodeSequences(&reader, groups, groupOf, slots, out)
            made = count
            decodeTimes(&reader, groupOf, slots, out)
            var received: Int64 = 0
            for index in 0..<count {
                received &+= reader.nextSigned()
                out[index].received = received
            }
            for index in 0..<count { out[index].order = out[index].time &- reader.nextSigned() }
        }
        var end = 0
        let ends = [Int](unsafeUninitializedCapacity: count) { out, made in
            for index in 0..<count {
                let length = reader.next()
                if length > UInt64(payloadBytes - end) { isSound = false }
                end += isSound ? Int(truncatingIfNeeded: length) : 0
                out[index] = end
            }
            made = count
        }
        guard isSound, !reader.isBad, reader.isAtEnd, end == payloadBytes else { return nil }
        return Decoded(envelopes: envelopes, groupOf: groupOf, ends: ends)
    }

    /// Writes the envelopes for the first time: sequence and level, the rest zero.
    private static func decodeSequences(
        _ reader: inout VarintReader,
        _ groups: [BatchGroup],
        _ groupOf: [Int],
        _ slots: (ofGroup: [Int], count: Int),
        _ out: UnsafeMutableBufferPointer<Envelope>
    ) {
        let levels = groups.map { Level(rawValue: $0.level) ?? .debug }
        var before = [UInt64](repeating: 0, count: slots.count)
        for index in groupOf.indices {
            let group = groupOf[index]
            let slot = slots.ofGroup[group]
            let sequence = before[slot] &+ 1 &+ UInt64(bitPattern: reader.nextSigned())
            before[slot] = sequence
            let envelope = Envelope(sequence: sequence, level: levels[group], time: 0)
            out.initializeElement(at: index, to: envelope)
        }
    }

    private static func decodeTimes(
        _ reader: inout VarintReader,
        _ groupOf: [Int],
        _ slots: (ofGroup: [Int], count: Int),
        _ out: UnsafeMutableBufferPointer<Envelope>
    ) {
        var before = [Before](repeating: Before(), count: slots.count)
        var last = Before()
        for index in groupOf.indices {
            let slot = slots.ofGroup[groupOf[index]]
            let from = before[slot].isKnown ? before[slot] : last
            last = Before(time: from.time &+ reader.nextSigned(), isKnown: true)
            before[slot] = last
            out[index].time = last.time
        }
        before = [Before](repeating: Before(), count: slots.count)
        last = Before()
        for index in groupOf.indices {
            let slot = slots.ofGroup[groupOf[index]]
            let from = before[slot].isKnown ? before[slot] : last
            let time = out[index].time
            let step = reader.nextSigned() &+ (time &- from.time)
            last = Before(time: time, boot: from.boot &+ UInt64(bitPattern: step), isKnown: true)
            before[slot] = last
            out[index].boot = last.boot
        }
    }
}
