public import Basics

/// A name with all that the broker knows of it: what `who` answers.
public struct NameReport: Equatable, Sendable {
    /// The name, its register and its claimer.
    public var info: NameInfo
    /// Registrations of it, whoever's.
    public var registrations: UInt32
    /// Those of them that are told of posts.
    public var subscribers: UInt32
    /// Events of it that wait, because their readers are suspended or slow.
    public var waiting: UInt32
    /// Milliseconds of its claim's deadline; 0 without one.
    public var deadline: UInt32
    /// Posts that were merged into events that still waited.
    public var merged: UInt64
    /// CLOCK_BOOTTIME, ns, at which the claim ends unless it is renewed; 0 for never.
    public var endsAt: UInt64

    /// A report as given.
    public init(
        info: NameInfo,
        registrations: UInt32,
        subscribers: UInt32,
        waiting: UInt32,
        deadline: UInt32,
        merged: UInt64,
        endsAt: UInt64
    ) {
        self.info = info
        self.registrations = registrations
        self.subscribers = subscribers
        self.waiting = waiting
        self.deadline = deadline
        self.merged = merged
        self.endsAt = endsAt
    }

    /// Appends 96 bytes, without the name.
    public func append(to writer: inout ByteWriter) {
        info.append(to: &writer)
        for value in [registrations, subscribers, waiting, deadline] { writer.u32(value) }
        writer.u64(merged)
        writer.u64(endsAt)
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        info = try NameInfo(from: &reader)
        registrations = try reader.u32()
        subscribers = try reader.u32()
        waiting = try reader.u32()
        deadline = try reader.u32()
        merged = try reader.u64()
        endsAt = try reader.u64()
    }
}

/// How often each quota refused a call.
public struct QuotaHits: Equatable, Sendable {
    /// Registrations of the connection or its user.
    public var registrations: UInt32 = 0
    /// Names that exist for the user.
    public var names: UInt32 = 0
    /// Words of pools.
    public var poolWords: UInt32 = 0
    /// Posts in a second.
    public var posts: UInt32 = 0
    /// Claims that would have lingered, and ended at once.
    public var lingers: UInt32 = 0

    /// None.
    public init() {}

    /// All of them.
    public var total: UInt64 {
        [registrations, names, poolWords, posts, lingers].reduce(0) { $0 + UInt64($1) }
    }
}

/// A connection with its counters: what `connections` answers.
public struct ConnectionReport: Equatable, Sendable {
    /// The connection's number.
    public var number: UInt64 = 0
    /// Kernel's word on the process.
    public var pid: Int32 = 0
    /// Kernel's word on the user.
    public var uid: UInt32 = 0
    /// Kernel's word on the group.
    public var gid: UInt32 = 0
    /// Registrations.
    public var registrations: UInt32 = 0
    /// Events that wait for it.
    public var waiting: UInt32 = 0
    /// Words of the pools that it has made.
    public var poolWords: UInt64 = 0
    /// Connections of its user that were ended for a malformed frame.
    public var malformed: UInt32 = 0
    /// Posts that it made.
    public var posts: UInt64 = 0
    /// Events that were sent to it.
    public var delivered: UInt64 = 0
    /// Posts that were merged into events that waited for it.
    public var merged: UInt64 = 0
    /// Operations of it that were refused, for whatever reason.
    public var refused: UInt64 = 0
    /// Those of them that met a quota.
    public var quotaHits = QuotaHits()
    /// Times that its frames had used up a turn of the broker's and the rest waited for the others.
    public var deferred: UInt32 = 0

    /// Nothing known.
    public init() {}

    /// Bytes on the wire.
    public static let bytes = 96

    /// Appends `bytes` bytes.
    public func append(to writer: inout ByteWriter) {
        writer.u64(number)
        writer.u32(UInt32(bitPattern: pid))
        for value in [uid, gid, registrations, waiting, malformed] { writer.u32(value) }
        for value in [poolWords, posts, delivered, merged, refused] { writer.u64(value) }
        let hits = quotaHits
        for value in [hits.registrations, hits.names, hits.poolWords, hits.posts, hits.lingers] {
            writer.u32(value)
        }
        writer.u32(deferred)
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        number = try reader.u64()
        pid = Int32(bitPattern: try reader.u32())
        uid = try reader.u32()
        gid = try reader.u32()
        registrations = try reader.u32()
        waiting = try reader.u32()
        malformed = try reader.u32()
        poolWords = try reader.u64()
        posts = try reader.u64()
        delivered = try reader.u64()
        merged = try reader.u64()
        refused = try reader.u64()
        quotaHits.registrations = try reader.u32()
        quotaHits.names = try reader.u32()
        quotaHits.poolWords = try reader.u32()
        quotaHits.posts = try reader.u32()
        quotaHits.lingers = try reader.u32()
        deferred = try reader.u32()
    }
}
