internal import Basics
public import NotifyProtocol

/// What the broker counts, for `status` and tests.
public struct BrokerFigures: Equatable, Sendable {
    /// Connections that are open.
    public var connections = 0
    /// Names that exist.
    public var names = 0
    /// Posts since the start.
    public var posts: UInt64 = 0
    /// Posts that were merged into an event that still waited.
    public var merged: UInt64 = 0
    /// Connections closed for a malformed frame.
    public var malformed: UInt64 = 0
    /// Operations that were refused.
    public var refused: UInt64 = 0
    /// Those of them that the rules do not allow.
    public var notAuthorized: UInt64 = 0
    /// Those of them that met a quota, and connections that did.
    public var overQuota: UInt64 = 0
    /// Claims that ended by their deadline.
    public var expired: UInt64 = 0
    /// Times that a connection had to wait because no descriptor was left.
    public var outOfDescriptors: UInt64 = 0
    /// Bytes of the memory files that registers and pools take: resident where they were written.
    public var memoryBytes = 0

    /// Nothing has happened yet.
    public init() {}
}

/// All that the broker decides, without a socket: frames in; answers, events and memory writes out.
///
/// 1. A name's register lives while a registration or a lingering claim of it exists.
/// 2. A claimed name is written by its claimer alone.
/// 3. A registration has at most one waiting event; posts merge into it and none is forgotten.
/// 4. Operations of a frame are applied in order, and the answer comes after all of them. A frame
///    that is more than a turn's work is done in several, with those of others in between.
/// 5. A memory file goes to nobody who may not read every name in it.
public struct BrokerState {
    /// A frame to send, with the memory file that goes along.
    public struct Outgoing {
        /// The bytes.
        public var frame: [UInt8]
        /// Its descriptor goes beside them.
        public var memory: (any BusMemory)?
    }

    /// What to do with a frame's sender.
    public enum Reply {
        case none
        case answer([UInt8])
        /// Several frames, in order: memory files first.
        case frames([Outgoing])
        /// Close the connection: the frame was malformed, for this reason.
        case close(String)
    }

    /// Makes a memory file for a class of readers; nil if there is no room for one.
    public typealias MemoryMaker = (MemoryLayoutOfBus) -> (any BusMemory)?

    /// Counters.
    public internal(set) var figures = BrokerFigures()

    var rules: AccessRules
    let quotas: BrokerQuotas
    /// The user whom the broker belongs to: as user 0 where quotas are concerned.
    let owner: UInt32
    let makeMemory: MemoryMaker
    /// Memory files by number; nil where a number is free.
    var memories: [RegisterMemory?]
    var classes: [Access.Readers: RegisterMemory] = [:]
    var connections: [UInt64: Connection] = [:]
    /// The same, by number.
    var inOrder: [Connection] = []
    var users: [UInt32: Account] = [:]
    /// All names.
    var names = NameIndex()
    /// Connections that were ended for a malformed frame, by user: they are not there to be listed.
    var malformed: [UInt32: UInt32] = [:]
    /// Users for whom that is counted: no more than this, whoever connects.
    static let malformedMax = 1024
    var families: [NameKey: Family] = [:]
    var timers = TimerQueue()
    /// Connections that have events waiting since the last look.
    var dirty: [Connection] = []
    /// What may still be done in this turn, in the units of `Work`; without turns there is no end.
    public var workLeft = Int.max
    /// Connections that have ended and still hold registrations.
    var leaving: [Leaving] = []
    /// Bytes of frames that wait to be done further.
    public internal(set) var unfinishedBytes = 0
    /// The listing of the frame at hand that is not at its end yet.
    var walk: NameWalk?
    /// Memory files that go along with the answer that is being written.
    var handouts: [RegisterMemory] = []
    private var lastConnection: UInt64 = 0
    /// Room for answers, kept from frame to frame.
    var scratch = ByteWriter(capacity: 256)

    /// A broker without names, but for those that the rules hold.
    ///
    /// - Parameters:
    ///   - memory: the common file, which must be zero and `layout.bytes` long.
    ///   - owner: the user whom the broker belongs to.
    public init(
        layout: MemoryLayoutOfBus,
        memory: any BusMemory,
        rules: AccessRules = AccessRules(),
        owner: UInt32 = 0,
        quotas: BrokerQuotas = .standard,
        now: UInt64 = 0,
        makeMemory: @escaping MemoryMaker = { _ in nil }
    ) {
        self.rules = rules
        self.owner = owner
        self.makeMemory = makeMemory
        self.quotas = quotas
        memories = [RegisterMemory(number: 0, layout: layout, file: memory)]
        for pinned in rules.pinned { pin(pinned, now: now) }
    }

    /// Notes a new connection.
    ///
    /// - Returns: its number, never used again; nil if its user has too many.
    public mutating func connect(_ identity: Identity, now: UInt64 = 0) -> UInt64? {
        let isMaster = identity.uid == 0 || identity.uid == owner
        let user =
            users[identity.uid] ?? Account(isMaster ? quotas.master : quotas.user, now: now)
        guard user.connections < user.limits.connections else {
            figures.overQuota += 1
            return nil
        }
        users[identity.uid] = user
        user.connections += 1
        lastConnection += 1
        let connection = Connection(
            number: lastConnection,
            identity: identity,
            account: Account(isMaster ? quotas.master : quotas.connection, now: now),
            user: user
        )
        connections[lastConnection] = connection
        inOrder.append(connection)
        figures.connections += 1
        return lastConnection
    }

    /// Counts a connection that waits because no descriptor was left for it.
    mutating func noteOutOfDescriptors() { figures.outOfDescriptors += 1 }

    /// Forgets a user who has nothing here any more.
    mutating func forgetIfEmpty(_ user: Account, _ uid: UInt32) {
        if user.isEmpty, users[uid] === user { users[uid] = nil }
    }

    /// Ends claims whose linger or deadline is over.
    ///
    /// - Returns: when to call it again; nil if no claim ends by itself.
    public mutating func tick(now: UInt64) -> UInt64? {
        while let name = timers.take(now: now) { end(name, now: now) }
        return timers.next
    }
}
