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
/// 4. Operations of a frame are applied in order, and its events leave after all of them.
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
    var users: [UInt32: Account] = [:]
    /// Connections that were ended for a malformed frame, by user: they are not there to be listed.
    var malformed: [UInt32: UInt32] = [:]
    /// Users for whom that is counted: no more than this, whoever connects.
    private static let malformedMax = 1024
    var names: [NameKey: Name] = [:]
    var families: [NameKey: Family] = [:]
    var timers = TimerQueue()
    /// Connections that have events waiting since the last look.
    var dirty: [Connection] = []
    /// Names and connections that listings of the frame at hand have looked at.
    var looks = 0
    /// Memory files that go along with the answer that is being written.
    var handouts: [RegisterMemory] = []
    private var lastConnection: UInt64 = 0
    /// Room for answers, kept from frame to frame.
    private var scratch = ByteWriter(capacity: 256)

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
        figures.connections += 1
        return lastConnection
    }

    /// A connection has ended: its registrations go, its claims end or linger, its wills are done.
    public mutating func disconnect(_ number: UInt64, now: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        figures.connections -= 1
        let cause: NotifyCause = connection.saidGoodbye ? .left : .died
        let gone = connection.registrations.values.sorted { $0.token < $1.token }
        connection.registrations = [:]
        connection.latest = nil
        for subscription in gone { drop(subscription) }
        for subscription in gone {
            endClaim(of: subscription.name, by: connection, cause: cause, now: now)
        }
        for subscription in gone { freeIfUnused(subscription.name) }
        connection.user.connections -= 1
        forgetIfEmpty(connection.user, connection.identity.uid)
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

    /// Applies a frame of a connection.
    public mutating func receive(_ frame: UnsafeRawBufferPointer, from number: UInt64, now: UInt64)
        -> Reply
    {
        guard let connection = connections[number] else { return .close("unknown connection") }
        do throws(TruncatedBytes) {
            var reader = ByteReader(frame)
            let header = try Frames.Header(from: &reader)
            guard Int(header.length) == frame.count else { return malformed(connection, "length") }
            switch Frames.Kind(rawValue: header.kind) {
            case .hello: return try greet(connection, header, &reader)
            case .request where connection.hasGreeted:
                return apply(connection, header, frame, now: now)
            default: return malformed(connection, "kind \(header.kind)")
            }
        } catch {
            return malformed(connection, "truncated at byte \(error.offset)")
        }
    }

    private mutating func malformed(_ connection: Connection, _ reason: String) -> Reply {
        figures.malformed += 1
        let uid = connection.identity.uid
        if malformed[uid] != nil || malformed.count < Self.malformedMax {
            malformed[uid, default: 0] &+= 1
        }
        return .close("malformed frame: \(reason)")
    }

    private mutating func greet(
        _ connection: Connection,
        _ header: Frames.Header,
        _ reader: inout ByteReader
    ) throws(TruncatedBytes) -> Reply {
        let magic = try reader.u32()
        let version = try reader.u32()
        guard magic == Frames.magic, version >= 1, !connection.hasGreeted, let common = memories[0]
        else {
            return malformed(connection, "hello")
        }
        connection.hasGreeted = true
        var writer = ByteWriter()
        Frames.Header(.welcome, count: 0, serial: header.serial).append(to: &writer)
        writer.u32(Frames.version)
        writer.u32(0)
        writer.u64(connection.number)
        writer.u64(UInt64(common.layout.slots))
        writer.u64(UInt64(common.layout.poolWords))
        Frames.seal(&writer)
        return .frames([Outgoing(frame: writer.bytes, memory: common.file)])
    }

    private mutating func apply(
        _ connection: Connection,
        _ header: Frames.Header,
        _ frame: UnsafeRawBufferPointer,
        now: UInt64
    ) -> Reply {
        let count = Int(header.count)
        guard count <= Frames.operationsMax else {
            return malformed(connection, "too many operations")
        }
        // All of the frame is looked at before any of it is applied.
        guard Self.isWhole(frame, count) else {
            return malformed(connection, "an operation is not whole")
        }
        // Taken out, so that operations may write to it; most quiet frames never do.
        var answer = AnswerWriter(scratch, header)
        scratch = ByteWriter()
        looks = 0
        var offset = Frames.headerBytes
        for _ in 0..<count {
            guard let head = OperationHead(frame, at: offset) else { break }
            offset = head.end
            let status: NotifyStatus
            if let quick = performQuick(head, connection, frame, now: now) {
                status = quick
                answer.add(status)
            } else {
                status = answer.add { writer in
                    perform(head, connection, frame, &writer, now: now)
                }
            }
            if status != .ok { note(status, connection) }
        }
        let isNeeded = answer.isNeeded
        let writer = answer.finish()
        guard isNeeded else {
            scratch = writer
            return handouts.isEmpty ? .none : .frames(takeHandouts(nil))
        }
        return handouts.isEmpty ? .answer(writer.bytes) : .frames(takeHandouts(writer.bytes))
    }

    /// True if `count` operations fill the frame, each of them readable.
    private static func isWhole(_ frame: UnsafeRawBufferPointer, _ count: Int) -> Bool {
        var offset = Frames.headerBytes
        for _ in 0..<count {
            guard let head = OperationHead(frame, at: offset) else { return false }
            if head.hasText {
                var reader = ByteReader(UnsafeRawBufferPointer(rebasing: frame[offset..<head.end]))
                guard (try? Operation(from: &reader)) != nil else { return false }
            }
            offset = head.end
        }
        return offset == frame.count
    }

    private mutating func note(_ status: NotifyStatus, _ connection: Connection) {
        figures.refused += 1
        connection.report.refused += 1
        if status == .notAuthorized { figures.notAuthorized += 1 }
        if status == .overQuota { figures.overQuota += 1 }
    }

    private mutating func takeHandouts(_ answer: [UInt8]?) -> [Outgoing] {
        var frames = handouts.map { memory in
            var writer = ByteWriter()
            Frames.Header(.memory, count: 0, serial: 0).append(to: &writer)
            MemoryNotice(number: memory.number, layout: memory.layout).append(to: &writer)
            Frames.seal(&writer)
            return Outgoing(frame: writer.bytes, memory: memory.file)
        }
        if let answer { frames.append(Outgoing(frame: answer)) }
        handouts = []
        return frames
    }
}
