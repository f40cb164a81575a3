public import Basics

/// What the broker says of a name.
public struct NameInfo: Equatable, Sendable {
    /// The name; empty in answers about a token.
    public var name = ""
    /// Where its register lies in the memory file.
    public var slot = 0
    /// First word of its pool.
    public var poolBase = 0
    /// Registers of its pool, 0 if it has none.
    public var poolCount = 0
    /// Why the claimer is gone; `post` while it is there, or if nobody has claimed the name.
    public var cause = NotifyCause.post
    /// The state.
    public var state: UInt64 = 0
    /// Posts so far.
    public var posts: UInt64 = 0
    /// Number of the claimer's connection; 0 if nobody has it (any more).
    public var connection: UInt64 = 0
    /// Kernel's word on the claimer's process, also of one that is gone and lingers.
    public var pid: Int32 = 0
    /// Kernel's word on the claimer's user.
    public var uid: UInt32 = 0

    /// Nothing known.
    public init() {}

    /// Appends 48 bytes, without the name.
    public func append(to writer: inout ByteWriter) {
        writer.u32(UInt32(slot))
        writer.u32(UInt32(poolBase))
        writer.u32(UInt32(poolCount))
        writer.u32(cause.rawValue)
        writer.u64(state)
        writer.u64(posts)
        writer.u64(connection)
        writer.u32(UInt32(bitPattern: pid))
        writer.u32(uid)
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        slot = Int(try reader.u32())
        poolBase = Int(try reader.u32())
        poolCount = Int(try reader.u32())
        cause = NotifyCause(rawValue: try reader.u32()) ?? .post
        state = try reader.u64()
        posts = try reader.u64()
        connection = try reader.u64()
        pid = Int32(bitPattern: try reader.u32())
        uid = try reader.u32()
    }
}

/// One delivery: what was posted, by whom, and how many posts it stands for.
public struct NotifyEvent: Equatable, Sendable {
    /// The registration that it is for.
    public var token: Int32
    /// Posts that this event stands for, from 1.
    public var merged: UInt32
    /// Number of the (latest) post of the name, from 1.
    public var post: UInt64
    /// The state at that post.
    public var state: UInt64
    /// Connection of the sender.
    public var connection: UInt64
    /// Kernel's word on the sender's process.
    public var pid: Int32
    /// Kernel's word on the sender's user.
    public var uid: UInt32
    /// A post, or why the broker itself speaks.
    public var cause: NotifyCause

    /// An event as given.
    public init(
        token: Int32,
        merged: UInt32,
        post: UInt64,
        state: UInt64,
        connection: UInt64,
        pid: Int32,
        uid: UInt32,
        cause: NotifyCause
    ) {
        self.token = token
        self.merged = merged
        self.post = post
        self.state = state
        self.connection = connection
        self.pid = pid
        self.uid = uid
        self.cause = cause
    }

    /// Appends `Frames.eventBytes` bytes.
    public func append(to writer: inout ByteWriter) {
        writer.u32(UInt32(bitPattern: token))
        writer.u32(merged)
        writer.u64(post)
        writer.u64(state)
        writer.u64(connection)
        writer.u32(UInt32(bitPattern: pid))
        writer.u32(uid)
        writer.u32(cause.rawValue)
        writer.u32(0)
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        token = Int32(bitPattern: try reader.u32())
        merged = try reader.u32()
        post = try reader.u64()
        state = try reader.u64()
        connection = try reader.u64()
        pid = Int32(bitPattern: try reader.u32())
        uid = try reader.u32()
        cause = NotifyCause(rawValue: try reader.u32()) ?? .post
        _ = try reader.u32()
    }
}
