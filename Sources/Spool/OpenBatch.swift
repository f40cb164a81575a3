internal import Basics
internal import Telemetry

/// The total order of records: `order`, then sender, then sequence; the store number last, so that
/// not even a forged spool has two equal keys.
struct RecordKey: Comparable {
    var order: Int64
    var rank: Int32
    var sequence: UInt64
    var store: UInt64

    static func < (left: RecordKey, right: RecordKey) -> Bool {
        if left.order != right.order { return left.order < right.order }
        if left.rank != right.rank { return left.rank < right.rank }
        if left.sequence != right.sequence { return left.sequence < right.sequence }
        return left.store < right.store
    }
}

/// A key that outlives the catalog that its rank is of.
struct RecordPlace {
    var key: RecordKey
    /// Row of `peer_state`.
    var instance: Int64

    /// The same place by the ranks of another catalog.
    func ranked(_ catalog: Catalog) -> RecordPlace {
        var copy = self
        if let sender = catalog.senders[instance] { copy.key.rank = sender.rank }
        return copy
    }
}

/// What a batch unpacks to: all of its records, or of a cold one those that match.
struct Unpacked {
    var groups: [BatchGroup]
    var columns: EnvelopeColumns.Decoded
    /// Store numbers, where they have gaps.
    var stores: [UInt64] = []
    var payload: [UInt8]
    /// Which records have theirs; empty where all have.
    var hasPayload: [Bool] = []
}

/// An unpacked batch with the records of it that match, in the order in which they are wanted.
///
/// A class so that a merge moves references, not arrays. While many batches overlap, those that
/// wait can rest: they keep what they have found, and are unpacked again when it is their turn.
final class OpenBatch {
    let place: Scan.Row
    let groups: [BatchGroup]
    private var columns: EnvelopeColumns.Decoded
    /// Store numbers, where they have gaps.
    private var stores: [UInt64]
    private var payload: [UInt8]
    private var hasPayload: [Bool]
    private var isResting = false
    private let senders: [Catalog.Sender]
    private let kinds: [String]
    /// Indexes of the matching records.
    private(set) var matches: [Int32] = []
    /// The next of `matches`.
    private(set) var position = 0
    /// Key of the next match.
    private(set) var key = RecordKey(order: 0, rank: 0, sequence: 0, store: 0)

    /// What the keys go by.
    private var sort = RecordMerge.Sort.order

    init(_ place: Scan.Row, _ unpacked: Unpacked, catalog: Catalog) {
        self.place = place
        groups = unpacked.groups
        columns = unpacked.columns
        stores = unpacked.stores
        payload = unpacked.payload
        hasPayload = unpacked.hasPayload
        senders = groups.compactMap { catalog.senders[$0.instance] }
        kinds = groups.compactMap { catalog.streams[$0.stream]?.kind }
    }

    /// True where the next match cannot be given before the batch was woken.
    var isAtRest: Bool {
        isResting
            || !hasPayload.isEmpty && position < matches.count
                && !hasPayload[Int(matches[position])]
    }

    /// Bytes that resting would set free, about.
    var bytes: Int {
        payload.count + columns.ends.count * (MemoryLayout<Envelope>.stride + 16)
    }

    /// Lets go what was unpacked.
    func rest() {
        isResting = true
        columns = EnvelopeColumns.Decoded()
        stores = []
        payload = []
        hasPayload = []
    }

    /// Takes what was unpacked again; false where it is not what it was.
    func wake(_ unpacked: Unpacked) -> Bool {
        guard unpacked.groups == groups,
            matches.allSatisfy({ Int($0) < unpacked.columns.envelopes.count })
        else { return false }
        columns = unpacked.columns
        stores = unpacked.stores
        payload = unpacked.payload
        hasPayload = unpacked.hasPayload
        isResting = false
        return true
    }

    /// Takes all: what does not match was left packed.
    func takeAll() {
        matches = (0..<Int32(truncatingIfNeeded: columns.envelopes.count)).map { $0 }
        rewind()
    }

    /// Finds the records that a query wants, in batch order.
    func filter(_ query: Query, _ catalog: Catalog) {
        let wanted = groups.map { catalog.wants($0, query) }
        var texts: [Bool]?
        if let text = query.text {
            texts = payload.withUnsafeBytes { text.search($0, ends: columns.ends) }
        }
        let checksTime = query.since != nil || query.until != nil
        let checksRecords = query.conditions.checksRecords
        matches.reserveCapacity(columns.envelopes.count)
        for index in 0..<columns.envelopes.count {
            guard wanted[columns.groupOf[index]] else { continue }
            if checksTime, !query.wants(time: columns.envelopes[index].time) { continue }
            if let texts, !texts[index] { continue }
            if checksRecords {
                let (envelope, store) = (columns.envelopes[index], storeNumber(index))
                guard query.conditions.wants(envelope, store: store) else { continue }
            }
            matches.append(Int32(truncatingIfNeeded: index))
        }
        rewind()
    }

    /// Leaves out matches whose payload `body` does not want.
    func keep(_ body: (UnsafeRawBufferPointer) -> Bool) {
        payload.withUnsafeBytes { bytes in
            matches.removeAll { match in
                let index = Int(match)
                let start = index == 0 ? 0 : columns.ends[index - 1]
                return !body(UnsafeRawBufferPointer(rebasing: bytes[start..<columns.ends[index]]))
            }
        }
        rewind()
    }

    /// Sorts the matches by group, and in each as they were stored, and goes to number `position`.
    func sortByGroup(at position: Int) {
        matches.sort { left, right in
            let (a, b) = (columns.groupOf[Int(left)], columns.groupOf[Int(right)])
            return a == b ? left < right : a < b
        }
        self.position = min(position, matches.count)
    }

    /// Sorts the matches.
    ///
    /// - Parameters:
    ///   - from: leaves out what lies before it, going forwards.
    ///   - last: leaves out what does not lie behind it.
    func sort(
        by sort: RecordMerge.Sort,
        reverse: Bool,
        from: RecordKey? = nil,
        behind last: RecordKey? = nil
    ) {
        self.sort = sort
        if let from { matches.removeAll { keyOf($0) < from } }
        if let last { matches.removeAll { reverse ? keyOf($0) >= last : keyOf($0) <= last } }
        var isSorted = true
        for index in matches.indices.dropFirst()
        where keyOf(matches[index]) < keyOf(matches[index - 1]) {
            isSorted = false
            break
        }
        if !isSorted { matches.sort { keyOf($0) < keyOf($1) } }
        if reverse { matches.reverse() }
        rewind()
    }

    /// Goes to the next match; false if there is none.
    func advance() -> Bool {
        position += 1
        guard position < matches.count else { return false }
        key = keyOf(matches[position])
        return true
    }

    /// Gives the match at `position` to `body`.
    func emit(_ body: (borrowing RecordView) -> Bool) -> Bool {
        let index = Int(matches[position])
        let group = columns.groupOf[index]
        let sender = senders[group]
        let start = index == 0 ? 0 : columns.ends[index - 1]
        let range = payload.isEmpty ? 0..<0 : start..<columns.ends[index]
        return payload.withUnsafeBytes { bytes in
            body(
                RecordView(
                    instance: sender.instance,
                    pid: sender.pid,
                    uid: sender.uid,
                    kind: kinds[group],
                    envelope: columns.envelopes[index],
                    store: storeNumber(index),
                    payload: UnsafeRawBufferPointer(rebasing: bytes[range])
                )
            )
        }
    }

    /// Where a walk stands that has come to the next match.
    var standing: RecordPlace {
        let index = Int(matches[position])
        return RecordPlace(key: key, instance: groups[columns.groupOf[index]].instance)
    }

    private func rewind() {
        position = 0
        if let first = matches.first { key = keyOf(first) }
    }

    private func keyOf(_ match: Int32) -> RecordKey {
        let index = Int(match)
        let envelope = columns.envelopes[index]
        let store = storeNumber(index)
        switch sort {
        case .store:
            return RecordKey(order: Int64(clamping: store), rank: 0, sequence: 0, store: store)
        case .order, .time:
            return RecordKey(
                order: sort == .time ? envelope.time : envelope.order,
                rank: senders[columns.groupOf[index]].rank,
                sequence: envelope.sequence,
                store: store
            )
        }
    }

    private func storeNumber(_ index: Int) -> UInt64 {
        stores.isEmpty ? place.row.firstStore &+ UInt64(index) : stores[index]
    }
}
