internal import Basics
internal import InternalNotification
internal import Spool
internal import Telemetry

/// The main hall.
///
/// Every record goes this way and no other: processors, deduplicator, sequencer, batcher. It is a
/// value without threads or clocks; the collect thread owns it.
struct Pipeline {
    var processors: [any Processor] = []
    var books: Books
    var batcher = Batcher()
    private var kinds: Set<String> = []
    /// Records dropped as duplicates: resent ones, no loss.
    private(set) var duplicates: UInt64 = 0
    /// Records or transfers that could not be read.
    private(set) var malformed: UInt64 = 0
    /// Records stored under `intel.other`, since there are too many kinds.
    private(set) var relabelled: UInt64 = 0

    init(books: Books) {
        self.books = books
    }

    /// Takes a whole transfer of one peer.
    mutating func accept(
        _ json: [UInt8],
        _ descriptor: TransferDescriptor,
        from instance: PeerInstance,
        _ received: Int64,
        _ now: UInt64
    ) {
        batcher.begin(now: now)
        books.note(taken: instance)
        if descriptor.isUrgent { batcher.isUrgent = true }
        let index = batcher.records.index(of: instance)
        var drops = 0
        var stray: UInt64?
        let fault = json.withUnsafeBytes { bytes -> JSONFault? in
            do throws(JSONFault) {
                try MessageCodec.forEach(bytes) { element in
                    switch element {
                    case .message(let message):
                        guard descriptor.sequences.contains(message.sequence) else {
                            stray = message.sequence
                            return
                        }
                        accept(
                            message,
                            UnsafeRawBufferPointer(rebasing: bytes[message.payload]),
                            index,
                            instance,
                            received: received
                        )
                    case .dropped(let sequences, let reason):
                        drops += 1
                        guard drops <= Limits.dropsPerTransferMax else { return }
                        drop(sequences, reason, instance, time: received)
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        var why = fault.map { "malformed transfer: \($0)" }
        if let stray { why = "malformed transfer: number \(stray) is not of it" }
        if drops > Limits.dropsPerTransferMax { why = "malformed transfer: too many drops" }
        if let why { reject(descriptor, why, from: instance, received, now) }
    }

    /// A transfer that cannot be read: its numbers are accounted for as dropped.
    mutating func reject(
        _ descriptor: TransferDescriptor,
        _ reason: String,
        from instance: PeerInstance,
        _ received: Int64,
        _ now: UInt64
    ) {
        batcher.begin(now: now)
        books.note(taken: instance)
        malformed += 1
        drop(descriptor.sequences, reason, instance, time: received)
    }

    /// One of the agent's own records.
    mutating func acceptOwn(
        kind: String,
        level: Level,
        payload: [UInt8],
        instance: PeerInstance,
        received: Int64,
        now: UInt64
    ) {
        batcher.begin(now: now)
        batcher.isUrgent = true
        let index = batcher.records.index(of: instance)
        var message = WireMessage()
        message.sequence = (books[instance].accounted.last ?? 0) + 1
        message.time = received
        message.boot = now
        message.kind = kind
        message.level = level
        payload.withUnsafeBytes { accept(message, $0, index, instance, received: received) }
    }

    private mutating func accept(
        _ message: WireMessage,
        _ payload: UnsafeRawBufferPointer,
        _ index: Int,
        _ instance: PeerInstance,
        received: Int64
    ) {
        var record = IncomingRecord(
            instance: instance,
            kind: message.kind,
            level: message.level,
            payload: []
        )
        let isProcessed = !processors.isEmpty
        if isProcessed {
            record.payload = Array(payload)
            for place in processors.indices {
                record = processors[place].process(record) ?? record
            }
        }
        var envelope = Envelope(
            sequence: message.sequence,
            level: record.level,
            time: message.time,
            boot: message.boot,
            received: received
        )
        var givenUp: [Hole] = []
        let isNew = books.update(instance) { state in
            let isNew = Deduplicator.accept(
                message.sequence,
                time: message.time,
                in: &state,
                givenUp: &givenUp
            )
            guard isNew else { return false }
            Sequencer.place(&envelope, in: &state)
            state.lastSeen = received
            return true
        }
        if !givenUp.isEmpty { note(givenUp, instance) }
        guard isNew else {
            duplicates += 1
            return
        }
        let kind = batcher.records.index(ofKind: admitted(record.kind))
        if isProcessed {
            record.payload.withUnsafeBytes {
                batcher.records.append(instance: index, kind: kind, envelope: envelope, payload: $0)
            }
        } else {
            batcher.records.append(
                instance: index,
                kind: kind,
                envelope: envelope,
                payload: payload
            )
        }
    }

    /// A kind beyond the limit is stored under one common name: nothing is lost but its label.
    private mutating func admitted(_ kind: String) -> String {
        if kinds.contains(kind) { return kind }
        guard kinds.count < Limits.kindsMax else {
            relabelled += 1
            return "intel.other"
        }
        kinds.insert(kind)
        return kind
    }

    private mutating func drop(
        _ sequences: ClosedRange<UInt64>,
        _ reason: String,
        _ instance: PeerInstance,
        time: Int64
    ) {
        var givenUp: [Hole] = []
        let new = books.update(instance) {
            Deduplicator.drop(sequences, time: time, in: &$0, givenUp: &givenUp)
        }
        for range in new {
            batcher.losses.append(
                Loss(instance: instance, sequences: range, reason: reason, times: time...time)
            )
        }
        note(givenUp, instance)
    }

    /// Holes beyond the limit, which will not be filled any more.
    private mutating func note(_ givenUp: [Hole], _ instance: PeerInstance) {
        for hole in givenUp {
            batcher.losses.append(
                Loss(
                    instance: instance,
                    sequences: hole.sequences,
                    reason: "never arrived, more than \(Limits.holesMax) gaps at a time",
                    times: hole.times
                )
            )
        }
    }
}
