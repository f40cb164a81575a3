public import Basics

/// What the broker says of a name.
public struct NameInfo: Equatable, Sendable {
    /// The name; empty in answers about a token.
    public var name = ""
    /// The memory file that its register and its pool lie in.
    public var memory = 0
    /// Where its register lies in that file.
    public var slot = 0
    /// First word of its pool.
    public var poolBase = 0
    /// Registers of its pool, 0 if it has none.
    public var poolCount = 0
    /// Why the claimer is gone; `post` while it is there, or if nobody has claimed the name.
    public var cause = NotifyCause.post
    /// The state.
    public var state: UInt64 = 0
    /// Grows with each set of the state and never comes again for this name: what
    /// `compareAndSet` compares.
    public var stateNumber: UInt64 = 0
    /// Posts so far.
    public var posts: UInt64 = 0
    /// Number of the claimer's connection; 0 if nobody has it (any more).
    public var connection: UInt64 = 0
    /// Kernel's word on the claimer's process, also of one that is gone and lingers.
    public var pid: Int32 = 0
    /// Kernel's word on the claimer's user.
    public var uid: UInt32 = 0
    /// The user whose file of restricted readers it lies in; 0 in the common file.
    public var owner: UInt32 = 0

    /// Nothing known.
    public init() {}

    /// Appends `Frames.nameBytes` bytes, without the name.
    public func append(to writer: inout ByteWriter) {
        writer.u32(UInt32(slot))
        writer.u32(UInt32(poolBase))
        writer.u32(UInt32(poolCount))
        writer.u32(cause.rawValue)
        writer.u64(state)
        writer.u64(stateNumber)
        writer.u64(posts)
        writer.u64(connection)
        writer.u32(UInt32(bitPattern: pid))
        writer.u32(uid)
        writer.u32(UInt32(memory))
        writer.u32(owner)
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        slot = Int(try reader.u32())
        poolBase = Int(try reader.u32())
        poolCount = Int(try reader.u32())
        cause = NotifyCause(rawValue: try reader.u32()) ?? .post
        state = try reader.u64()
        stateNumber = try reader.u64()
        posts = try reader.u64()
        connection = try reader.u64()
        pid = Int32(bitPattern: try reader.u32())
        uid = try reader.u32()
        memory = Int(try reader.u32())
        owner = try reader.u32()
    }
}
