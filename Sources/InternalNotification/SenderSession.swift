internal import Basics
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization
internal import Telemetry

/// A sender's end of the bus: its claimed names, its ring, its heartbeat.
///
/// The sender's thread owns it.
///
/// A transfer is one frame: tail (what is overwritten is so declared first), bytes, descriptor,
/// sizes, head, signal. A reader never sees half of one.
struct SenderSession {
    let client: NotifyClient
    let names: PeerNames
    let channel: ChannelNames
    let fingerprint: UInt32
    let epoch: UInt64
    private let tokens: Tokens
    private let packer: Packer
    private var ledger = RingLedger()
    /// The tail that the bus knows.
    private var told: UInt64 = 1
    /// How much raw JSON makes half a ring, as learnt from the transfers so far.
    private var rawTarget = Limits.transferBytes
    private var nextUnacknowledged: UInt64 = 0
    private(set) var nextPing: UInt64 = 0
    private(set) var collectorSession: UInt64 = 0
    /// The register that names the collector; set once it is registered.
    var collectorToken: NotifyToken = -1
    private var acknowledgements: [NotifyToken] = []
    private var takenToken: NotifyToken?
    /// The life of the bus in which the ring was begun.
    private var attachNumber: UInt64
    /// When other names may be looked for, CLOCK_BOOTTIME ns, and which.
    var nextTry: UInt64 = 0
    private var nextAttempt = 1
    /// The highest number given out that the ring tells of.
    private var toldSent: UInt64 = 0
    /// The bus did not take a frame.
    private var hasHole = false

    private struct Tokens {
        var claims: [NotifyToken]
        var channel: NotifyToken
        var signal: NotifyToken
        var beat: NotifyToken { claims[1] }
        var head: NotifyToken { claims[2] }
        var tail: NotifyToken { claims[3] }
        var messageCount: NotifyToken { claims[4] }
        var messageSize: NotifyToken { claims[5] }
        var compressedSize: NotifyToken { claims[6] }
        var pool: NotifyToken { claims[7] }
        var transfers: NotifyToken { claims[8] }
    }

    /// Claims the names of the first free fingerprint of `identity` on `channel`.
    init(
        client: NotifyClient,
        channel: ChannelNames,
        identity: Identity,
        epoch: UInt64,
        boot: UInt64,
        attempts: Range<Int> = 1..<Limits.peersMax + 1
    ) throws(NotifyStatus) {
        self.client = client
        self.channel = channel
        self.epoch = epoch
        packer = try Packer()
        attachNumber = client.attachNumber
        let channelToken = try client.registerCheck(channel.channel)
        let signal = try client.registerCheck(channel.signal)
        var attempt = attempts.lowerBound
        while true {
            let fingerprint = ChannelNames.fingerprint(of: identity.identifier, attempt: attempt)
            let names = channel.peer(fingerprint)
            do throws(NotifyStatus) {
                let claims = try client.claimAll(
                    Self.claims(names, identity, epoch: epoch, boot: boot)
                )
                self.fingerprint = fingerprint
                self.names = names
                tokens = Tokens(claims: claims, channel: channelToken, signal: signal)
                return
            } catch {
                // Claimed by another live (or lingering) instance: the next number, within reason.
                guard error == .notAuthorized, attempt + 1 < attempts.upperBound else {
                    for token in [channelToken, signal] { try? client.cancel(token) }
                    throw error
                }
                attempt += 1
            }
        }
    }

    private static func claims(
        _ names: PeerNames,
        _ identity: Identity,
        epoch: UInt64,
        boot: UInt64
    ) -> [(name: String, options: ClaimOptions, pool: Int)] {
        func register(_ name: String, _ state: UInt64 = 0, will: UInt64? = nil)
            -> (name: String, options: ClaimOptions, pool: Int)
        {
            (name, ClaimOptions(state: state, will: will, linger: Limits.lingerSeconds), 0)
        }
        func pool(_ name: String, _ count: Int) -> (name: String, options: ClaimOptions, pool: Int)
        {
            (name, ClaimOptions(linger: Limits.lingerSeconds), count)
        }
        let slots = identity.registers
        return [
            register(names.epoch, epoch, will: epoch), register(names.beat, boot),
            register(names.head), register(names.tail, 1), register(names.messageCount),
            register(names.messageSize), register(names.messageCompressedSize),
            pool(names.pool, Limits.ringRegisters),
            pool(names.transfers, Limits.transfersMax * TransferDescriptor.registers),
            register(names.identityCount, UInt64(slots.count)),
        ] + slots.enumerated().map { register(names.identity($0), $1) }
    }

    /// False after the bus came back, or did not take a frame: the ring is empty, or has a hole.
    var isWhole: Bool { !hasHole && attachNumber == client.attachNumber }

    /// Starts the ring anew.
    ///
    /// - Throws: `notAuthorized` where the names are somebody else's since the bus came back;
    ///   others where it does not answer, and then this is to be done again.
    mutating func reestablish(_ core: SenderCore) throws(NotifyStatus) {
        let number = client.attachNumber
        core.state.withLock { $0.outbox.rewind() }
        guard !registered.contains(where: client.isRefused) else { throw .notAuthorized }
        ledger.reset()
        nextPing = 0
        var batch = NotifyBatch()
        batch.set(tokens.tail, ledger.tail)
        batch.set(tokens.head, ledger.head)
        try client.write(batch)
        told = ledger.tail
        attach(to: 0, core)
        try askForCollector(core)
        hasHole = false
        attachNumber = number
    }

    /// Asks the bus who collects, if anybody.
    func askForCollector(_ core: SenderCore) throws(NotifyStatus) {
        let news = core.state.withLock { $0.collectorNews }
        let info = try client.information(collectorToken)
        core.state.withLock { state in
            // Unless the collector has said something newer meanwhile.
            if state.collectorNews == news { state.noteCollector(info) }
        }
    }

    /// The fingerprints to try next: a few at a time, round and round.
    mutating func nextAttempts(now: UInt64) -> Range<Int> {
        let first = nextAttempt < Limits.peersMax ? nextAttempt : 1
        nextAttempt = first + 16
        nextTry = now + Limits.pingInterval
        return first..<first + 16
    }

    private var registered: [NotifyToken] {
        tokens.claims + [tokens.channel, tokens.signal, collectorToken]
    }

    /// Lets all names go, for another session of this program.
    func end() {
        for token in registered + acknowledgements { try? client.cancel(token) }
    }

    /// Goes on from the ring of another session: whoever reads both takes no number for old.
    mutating func follow(_ other: borrowing SenderSession) {
        ledger.reset(after: other.ledger.head)
        hasHole = true
    }

    /// Pings if it is time; the result is when the next one is due.
    mutating func ping(clock: Clock, jitter: UInt64) {
        let now = clock.boot()
        guard now >= nextPing else { return }
        nextPing = now + Limits.pingInterval - Limits.pingInterval / 10 + jitter
        var batch = NotifyBatch()
        batch.set(tokens.beat, now)
        let seconds = UInt64(clock.wall() / 1_000_000_000) & 0xffff_ffff
        batch.setAndPost(tokens.channel, UInt64(fingerprint) << 32 | seconds)
        try? client.write(batch)
    }

    /// Follows the collector: one that comes, goes or restarts.
    mutating func followCollector(_ core: SenderCore) {
        let wanted = core.state.withLock { $0.collectorSession }
        if wanted != collectorSession { attach(to: wanted, core) }
        let ringStart = ledger.items.first?.first
        let resumed: UInt64? = core.state.withLock { state in
            guard let resume = state.resume else { return nil }
            state.resume = nil
            state.outbox.acknowledge(resume.stored)
            guard resume.connection != state.collectorConnection else { return nil }
            state.collectorConnection = resume.connection
            // What is whole in the ring need not be written again; a gap before it must.
            if let ringStart, ringStart <= resume.stored + 1 { return nil }
            state.outbox.rewind()
            return resume.stored
        }
        if resumed != nil { ledger.reset() }
    }

    private mutating func attach(to session: UInt64, _ core: SenderCore) {
        collectorSession = session
        for token in acknowledgements { try? client.cancel(token) }
        acknowledgements = []
        takenToken = nil
        core.state.withLock { state in
            state.resume = nil
            state.collectorConnection = 0
            state.hasCollector = session != 0
        }
        guard session != 0 else { return }
        let collector = UInt32(session >> 32)
        do throws(NotifyStatus) {
            let takenName = names.taken(by: collector, of: epoch)
            let taken = try client.registerDirect(takenName) { [core] _ in core.ring() }
            acknowledgements.append(taken)
            takenToken = taken
            let storedName = names.stored(by: collector, of: epoch)
            let stored = try client.registerDirect(storedName) { [core] event in
                core.noteStored(event.state, connection: event.connection)
            }
            acknowledgements.append(stored)
            let info = try client.information(stored)
            if info.connection != 0 { core.noteStored(info.state, connection: info.connection) }
        } catch {
            // The bus went away in between; `reestablish` starts over.
            collectorSession = 0
        }
    }

    /// Sends one transfer if something waits and there is room.
    ///
    /// - Returns: ns until it is worth trying again; 0 at once; nil when only news can help.
    mutating func send(_ core: SenderCore, now: UInt64) -> UInt64? {
        guard client.isAttached else { return nil }
        let isAcknowledged = collectorSession != 0
        let (isStopping, isUrgent) = core.state.withLock {
            ($0.isStopping, !$0.waiters.isEmpty || $0.outbox.isHalfFull)
        }
        if !isAcknowledged, !isStopping, now < nextUnacknowledged {
            return nextUnacknowledged - now
        }
        let countMax = isAcknowledged || isStopping ? .max : Limits.unacknowledgedBatchMax
        let target = rawTarget
        guard
            let batch = core.state.withLock({
                $0.outbox.batch(bytesMax: target, countMax: countMax)
            })
        else { return nil }
        if isAcknowledged, !isStopping, batch.json.count < target / 2 {
            // While the collector does not read, small transfers are held back: they pack badly,
            // and what is queued when the program ends is to have room.
            let free = ledger.freeQuarters(taken: taken)
            if free < 2 { return nil }
            if free < 3, now < nextUnacknowledged { return nextUnacknowledged - now }
        }
        let sequences = batch.sequences
        let packed = packer.pack(batch.json)
        learn(raw: batch.json.count, packed: packed.count)
        if packed.count > Limits.ringBytes / 2, sequences.count > 1 { return 0 }
        guard packed.count <= Limits.ringBytes else {
            core.state.withLock { $0.giveUp(sequences.upperBound) }
            return 0
        }
        let chunks = (packed.count + 7) / 8
        guard
            let place = ledger.place(
                chunks: chunks,
                first: sequences.lowerBound,
                taken: isAcknowledged ? taken : nil
            )
        else { return nil }
        let descriptor = TransferDescriptor(
            number: place.number,
            offset: place.offset,
            chunks: chunks,
            size: batch.json.count,
            compressedSize: packed.count,
            crc: Checksum.crc32c(packed),
            isUrgent: isUrgent || isStopping,
            isOldest: batch.isOldest,
            sequences: sequences,
            sent: core.state.withLock { $0.outbox.last },
            epoch: epoch
        )
        guard write(descriptor, Registers.pack(packed)) else {
            hasHole = true
            return Limits.unacknowledgedPause
        }
        toldSent = descriptor.sent
        let oldest = isAcknowledged ? nil : ledger.items.first?.first
        core.state.withLock { $0.outbox.markSent(sequences, oldest: oldest) }
        nextUnacknowledged = now + Limits.unacknowledgedPause
        return 0
    }

    /// The last transfer in the ring tells how many messages there are, where no room was found for
    /// the rest: for whoever reads it the rest is missing then, and not unknown.
    mutating func tellRest(_ core: SenderCore) {
        let last = core.state.withLock { $0.outbox.last }
        guard isWhole, !ledger.items.isEmpty, last > toldSent else { return }
        var batch = NotifyBatch()
        let place = TransferDescriptor.slot(of: ledger.head) + TransferDescriptor.sentIndex
        batch.poolWrite(tokens.transfers, at: place, words: [last])
        try? client.write(batch)
        toldSent = last
    }

    /// Last transfer that the collector has copied; a load from memory, so that no post of it can
    /// be missed.
    private var taken: UInt64 {
        takenToken.flatMap { try? client.state($0) } ?? 0
    }

    /// False where the bus did not take it.
    private mutating func write(_ descriptor: TransferDescriptor, _ words: [UInt64]) -> Bool {
        var batch = NotifyBatch()
        if ledger.tail != told { batch.set(tokens.tail, ledger.tail) }
        let untilEnd = min(words.count, Limits.ringRegisters - descriptor.offset)
        batch.poolWrite(tokens.pool, at: descriptor.offset, words: Array(words[..<untilEnd]))
        if untilEnd < words.count {
            batch.poolWrite(tokens.pool, at: 0, words: Array(words[untilEnd...]))
        }
        let slot = TransferDescriptor.slot(of: descriptor.number)
        batch.poolWrite(tokens.transfers, at: slot, words: descriptor.words)
        batch.set(tokens.messageCount, UInt64(descriptor.chunks))
        batch.set(tokens.messageSize, UInt64(descriptor.size))
        batch.set(tokens.compressedSize, UInt64(descriptor.compressedSize))
        batch.set(tokens.head, descriptor.number)
        batch.setAndPost(tokens.signal, UInt64(fingerprint) << 32 | UInt64(descriptor.chunks))
        told = ledger.tail
        return (try? client.write(batch)) != nil
    }

    private mutating func learn(raw: Int, packed: Int) {
        let half = Limits.ringBytes / 2
        if packed > half {
            rawTarget = max(1024, raw / 2)
        } else if raw * 10 > rawTarget * 9, packed * 4 < half * 3 {
            rawTarget = min(Limits.transferBytes, rawTarget * 5 / 4)
        }
    }
}
