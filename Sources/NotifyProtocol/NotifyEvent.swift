public import Basics

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
    /// The number of that state: see `NameInfo.stateNumber`.
    public var stateNumber: UInt64
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
        stateNumber: UInt64 = 0,
        connection: UInt64,
        pid: Int32,
        uid: UInt32,
        cause: NotifyCause
    ) {
        self.token = token
        self.merged = merged
        self.post = post
        self.state = state
        self.stateNumber = stateNumber
        self.connection = connection
        self.pid = pid
        self.uid = uid
        self.cause = cause
    }

    /// Appends `Frames.eventBytes` bytes.
    public func append(to writer: inout ByteWriter) {
        // In one piece: field by field, growing the frame was dearer than all else in sending it.
        withUnsafeTemporaryAllocation(byteCount: Frames.eventBytes, alignment: 8) { bytes in
            func put(_ value: some FixedWidthInteger, at offset: Int) {
                bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
            }
            put(token, at: 0)
            put(merged, at: 4)
            put(post, at: 8)
            put(state, at: 16)
            put(stateNumber, at: 24)
            put(connection, at: 32)
            put(pid, at: 40)
            put(uid, at: 44)
            put(cause.rawValue, at: 48)
            put(UInt32(0), at: 52)
            writer.raw(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Reads what `append` wrote.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        token = Int32(bitPattern: try reader.u32())
        merged = try reader.u32()
        post = try reader.u64()
        state = try reader.u64()
        stateNumber = try reader.u64()
        connection = try reader.u64()
        pid = Int32(bitPattern: try reader.u32())
        uid = try reader.u32()
        cause = NotifyCause(rawValue: try reader.u32()) ?? .post
        _ = try reader.u32()
    }
}
