/// The head of an operation and where its body lies: enough for the broker to do the frequent ones
/// without making values of them.
public struct OperationHead: Sendable {
    /// Wire number.
    public var code: UInt16
    /// Flags of that operation.
    public var flags: UInt16
    /// Where the body begins in the frame.
    public var start: Int
    /// Bytes of the body.
    public var count: Int

    /// Bytes of the head.
    public static let bytes = 8

    /// Reads the head at `offset` of a frame; nil if it or its body is not whole.
    ///
    /// A body that is too short for what the operation holds is not whole either.
    @inline(__always)
    public init?(_ frame: UnsafeRawBufferPointer, at offset: Int) {
        guard offset >= 0, frame.count - offset >= Self.bytes else { return nil }
        code = UInt16(littleEndian: frame.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        flags = UInt16(
            littleEndian: frame.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)
        )
        let length = Int(
            UInt32(littleEndian: frame.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        )
        guard length >= Self.bytes, length % 8 == 0, length <= frame.count - offset else {
            return nil
        }
        start = offset + Self.bytes
        count = length - Self.bytes
        switch Operation.Code(rawValue: code) {
        case .post, .cancel, .suspend, .resume, .inspect, .renew:
            guard count >= 4 else { return nil }
        case .set, .setAndPost: guard count >= 16 else { return nil }
        case .compareAndSet: guard count >= 24 else { return nil }
        case .poolWrite: guard count >= 8 else { return nil }
        default: break
        }
    }

    /// True for an operation that has to be read to know whether it is whole.
    @inline(__always)
    public var hasText: Bool {
        switch Operation.Code(rawValue: code) {
        case .register, .postName, .list, .who, .connections: true
        default: false
        }
    }

    /// Where the next operation begins.
    public var end: Int { start + count }

    /// Four bytes of the body.
    @inline(__always)
    public func u32(_ frame: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(
            littleEndian: frame.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self)
        )
    }

    /// Eight bytes of the body.
    @inline(__always)
    public func u64(_ frame: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(
            littleEndian: frame.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self)
        )
    }
}
