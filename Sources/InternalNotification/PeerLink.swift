internal import Basics
internal import Compression
internal import NotifyClient
public import NotifyProtocol
public import Telemetry

/// A reader's end of one peer: its identity, its liveness, and the transfers in its ring.
///
/// One thread owns it. Everything but opening it is loads from shared memory.
public final class PeerLink {
    /// What was found in the ring.
    public enum Found {
        /// A whole transfer: its descriptor and the unpacked JSON.
        case transfer(TransferDescriptor, json: [UInt8])
        /// A transfer that is there but cannot be read, and why.
        case damaged(TransferDescriptor, reason: String)

        /// What the sender says of it.
        public var descriptor: TransferDescriptor {
            switch self {
            case .transfer(let descriptor, _), .damaged(let descriptor, _): descriptor
            }
        }
    }

    /// Which run of which program, as it says itself.
    public let instance: PeerInstance
    /// The vendor's key, as it says itself.
    public let apikey: String
    /// Its fingerprint on the bus.
    public let fingerprint: UInt32
    /// Kernel's word on its process.
    public let pid: Int32
    /// Kernel's word on its user.
    public let uid: UInt32
    /// Number of the last transfer that was read (or passed over).
    public var lastNumber: UInt64 = 0

    /// The next transfer is there, but there is no pool that could hold its bytes.
    private var isUnreadable = false
    /// The bus was asked where the bytes lie and could not tell.
    private var hasAsked = false
    /// What may still be read in this turn.
    private var allowance = (transfers: 0, bytes: 0)

    private let client: NotifyClient
    private let unpacker: Unpacker
    private let tokens: [NotifyToken]
    private var beatToken: NotifyToken { tokens[1] }
    private var headToken: NotifyToken { tokens[2] }
    private var tailToken: NotifyToken { tokens[3] }
    private var poolToken: NotifyToken { tokens[4] }
    private var tableToken: NotifyToken { tokens[5] }

    /// Opens the peer behind an epoch register that `NotifyClient.list` has found.
    ///
    /// - Parameter ended: called on the client's thread when the peer's connection ends.
    /// - Throws: where the peer has gone meanwhile, or its registers hold no identity.
    init(
        client: NotifyClient,
        unpacker: Unpacker,
        names: PeerNames,
        fingerprint: UInt32,
        found: NameInfo,
        ended: @escaping @Sendable (NotifyEvent) -> Void
    ) throws(NotifyStatus) {
        self.client = client
        self.unpacker = unpacker
        self.fingerprint = fingerprint
        pid = found.pid
        uid = found.uid
        let identity = try Self.readIdentity(client, names)
        instance = PeerInstance(identifier: identity.identifier, epoch: found.state)
        apikey = identity.apikey
        var opened: [NotifyToken] = []
        do throws(NotifyStatus) {
            opened.append(
                try client.registerDirect(names.epoch) { event in
                    if event.cause != .post { ended(event) }
                }
            )
            for name in [names.beat, names.head, names.tail] {
                opened.append(try client.registerCheck(name))
            }
            for name in [names.pool, names.transfers] { opened.append(try client.openPool(name)) }
        } catch {
            for token in opened { try? client.cancel(token) }
            throw error
        }
        tokens = opened
    }

    /// Lets all registrations go.
    public func close() {
        for token in tokens { try? client.cancel(token) }
    }

    /// CLOCK_BOOTTIME, ns, of its last ping; 0 while the bus is away.
    public var beat: UInt64 { (try? client.state(beatToken)) ?? 0 }

    /// How its connection ended; nil while it lives.
    public func ending() -> NotifyCause? {
        guard let info = try? client.information(tokens[0]) else { return nil }
        return info.connection == 0 || info.cause != .post ? info.cause : nil
    }

    /// True if there is a transfer that was not read yet.
    public var hasNews: Bool {
        guard let head = try? client.state(headToken), head > lastNumber,
            let tail = try? client.state(tailToken)
        else { return false }
        return tail <= head
    }

    /// True if there is nothing in the ring that could be read now.
    public var isReadToEnd: Bool { !hasNews || isUnreadable }

    /// True if this turn has left something for the next.
    public var hasMore: Bool { (allowance.transfers <= 0 || allowance.bytes <= 0) && hasNews }

    /// What the bus could not tell before may be asked again.
    func mayAskAgain() {
        hasAsked = false
    }

    /// Its names belong to a later run: nothing of it can be read any more.
    func retire() {
        lastNumber = .max
    }

    /// The highest number that it says to have given out, as the newest transfer has it; 0 where
    /// there is none.
    public var sent: UInt64 {
        guard let head = try? client.state(headToken), let newest = try? descriptor(head) else {
            return 0
        }
        return newest.sent
    }

    /// Passes over all that is in the ring now.
    func skipHistory() {
        if let head = try? client.state(headToken) { lastNumber = head }
    }

    /// Starts again from the oldest transfer in the ring.
    public func rewind() {
        lastNumber = 0
    }

    /// Begins a turn: in each the peer is read as far as a ring goes, and no further, so that one
    /// that writes as fast as it is read stops nobody else.
    public func beginTurn() {
        allowance = (Limits.transfersMax, Limits.transferBytesMax)
    }

    /// Reads the next whole transfer after `lastNumber`; nil if there is none, if it cannot be read
    /// yet, or if enough was read in this turn.
    ///
    /// After a restart of the bus the registers of both sides come back one by one, the head before
    /// the bytes: such a transfer is waited for, since nobody writes it again.
    public func next() -> Found? {
        while allowance.transfers > 0, allowance.bytes > 0 {
            guard let head = try? client.state(headToken), let tail = try? client.state(tailToken),
                head > lastNumber
            else { return nil }
            // No more descriptors than these can be whole, whatever the peer says.
            let depth = UInt64(Limits.transfersMax)
            let oldest = head > depth ? head - depth + 1 : 1
            let number = max(lastNumber + 1, tail, oldest)
            guard number <= head else { return nil }
            let found: (TransferDescriptor, [UInt8])?
            do throws(NotifyStatus) {
                found = try copy(number)
            } catch {
                let isRefused = [poolToken, tableToken].contains(where: client.isRefused)
                isUnreadable = error == .invalidRequest || isRefused
                return nil
            }
            isUnreadable = false
            lastNumber = number
            allowance.transfers -= 1
            // Not there: overwritten a moment ago, or not written again after a restart of the bus.
            // Its messages come again.
            guard let (descriptor, packed) = found else { continue }
            // Overwritten while it was copied: what `tail` says now starts the next round.
            if let now = try? client.state(tailToken), now > number { continue }
            allowance.bytes -= descriptor.size
            return unpack(descriptor, packed)
        }
        return nil
    }

    /// Throws where the pools cannot be read now; nil where the transfer is not in them.
    private func copy(_ number: UInt64) throws(NotifyStatus) -> (TransferDescriptor, [UInt8])? {
        let attach = client.attachNumber
        guard let descriptor = try descriptor(number) else { return nil }
        let untilEnd = min(descriptor.chunks, Limits.ringRegisters - descriptor.offset)
        let ring = try read(poolToken, at: descriptor.offset, count: untilEnd)
        let rest = try read(poolToken, at: 0, count: descriptor.chunks - untilEnd)
        // The table of one life of the bus does not describe the bytes of the next.
        guard client.attachNumber == attach else { throw .serverNotFound }
        return (descriptor, Registers.unpack(ring + rest, count: descriptor.compressedSize))
    }

    private func descriptor(_ number: UInt64) throws(NotifyStatus) -> TransferDescriptor? {
        let slot = TransferDescriptor.slot(of: number)
        let words = try read(tableToken, at: slot, count: TransferDescriptor.registers)
        guard let found = TransferDescriptor(words: words, ring: Limits.ringRegisters),
            found.number == number, found.epoch == instance.epoch
        else { return nil }
        return found
    }

    private func read(_ token: NotifyToken, at start: Int, count: Int) throws(NotifyStatus)
        -> [UInt64]
    {
        var words: [UInt64] = []
        do throws(NotifyStatus) {
            try client.readPool(token, at: start, count: count, into: &words)
        } catch {
            // After a restart of the bus this reader may have been back before the pool was. Asking
            // is a call, so it is not done each time that somebody looks.
            guard error == .invalidRequest, !hasAsked else { throw error }
            for token in [poolToken, tableToken] { _ = try client.information(token) }
            hasAsked = true
            try client.readPool(token, at: start, count: count, into: &words)
        }
        return words
    }

    private func unpack(_ descriptor: TransferDescriptor, _ packed: [UInt8]) -> Found {
        guard descriptor.size <= Limits.transferBytesMax else {
            return .damaged(descriptor, reason: "transfer is larger than the limit")
        }
        guard Checksum.crc32c(packed) == descriptor.crc else {
            return .damaged(descriptor, reason: "transfer checksum does not match")
        }
        guard let json = unpacker.unpack(packed, size: descriptor.size) else {
            return .damaged(descriptor, reason: "transfer does not unpack")
        }
        return .transfer(descriptor, json: json)
    }

    private static func readIdentity(_ client: NotifyClient, _ names: PeerNames)
        throws(NotifyStatus) -> Identity
    {
        let slots = try readOnce(client, names.identityCount)
        guard slots > 0, slots <= UInt64(Identity.slotsMax) else { throw .invalidRequest }
        var registers: [UInt64] = []
        for slot in 0..<Int(slots) {
            registers.append(try readOnce(client, names.identity(slot)))
        }
        guard let identity = Identity(registers: registers) else { throw .invalidRequest }
        return identity
    }

    private static func readOnce(_ client: NotifyClient, _ name: String) throws(NotifyStatus)
        -> UInt64
    {
        let token = try client.registerCheck(name)
        defer { try? client.cancel(token) }
        return try client.state(token)
    }
}
