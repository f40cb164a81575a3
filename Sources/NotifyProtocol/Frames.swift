public import Basics

/// Frames of the bus: one packet each, little-endian.
///
/// Every request is a list of operations that are applied in order and answered by one frame with
/// one result each, so a batch needs no form of its own. Written down in docs/bus-protocol.md.
public enum Frames {
    /// The version that both ends name in their first frame.
    public static let version: UInt32 = 1
    /// First word of a hello: "INTL".
    public static let magic: UInt32 = 0x4c54_4e49
    /// A frame is never longer.
    public static let bytesMax = 64 << 10
    /// Bytes of a frame's header.
    public static let headerBytes = 16
    /// Operations of one request.
    public static let operationsMax = 4096
    /// UTF-8 bytes of a name.
    public static let nameBytesMax = 511
    /// Registers of one pool.
    public static let poolRegistersMax = 4096
    /// Bytes of one event in an events frame.
    public static let eventBytes = 48

    /// What a frame is.
    public enum Kind: UInt16, Sendable {
        case hello = 1
        case welcome, request, answer, events
    }

    /// The first 16 bytes.
    public struct Header: Equatable, Sendable {
        /// What the frame is; unknown kinds close the connection.
        public var kind: UInt16
        /// Operations, results or events in it.
        public var count: UInt16
        /// Bytes of the whole frame.
        public var length: UInt32
        /// Chosen by the client, repeated in the answer.
        public var serial: UInt32
        /// Bit 0 of a request: answer only where something fails.
        public var flags: UInt32

        /// A header as given.
        public init(_ kind: Kind, count: Int, serial: UInt32, flags: UInt32 = 0) {
            self.kind = kind.rawValue
            self.count = UInt16(clamping: count)
            length = 0
            self.serial = serial
            self.flags = flags
        }

        /// Reads a header.
        public init(from reader: inout ByteReader) throws(TruncatedBytes) {
            kind = try reader.u16()
            count = try reader.u16()
            length = try reader.u32()
            serial = try reader.u32()
            flags = try reader.u32()
        }

        /// True if only failures are to be answered.
        public var isQuiet: Bool { flags & 1 != 0 }

        /// Appends the header; `seal` puts the length in.
        public func append(to writer: inout ByteWriter) {
            writer.u16(kind)
            writer.u16(count)
            writer.u32(length)
            writer.u32(serial)
            writer.u32(flags)
        }
    }

    /// Puts the length of a finished frame into its header.
    public static func seal(_ writer: inout ByteWriter) {
        writer.patch(u32: UInt32(writer.count), at: 4)
    }

    /// True for a name that the bus takes: 1 to 511 bytes, no NUL.
    public static func isValid(name: String) -> Bool {
        (1...nameBytesMax).contains(name.utf8.count) && !name.utf8.contains(0)
    }
}

/// The layout of the memory file: register slots first, then the words of pools.
public struct MemoryLayoutOfBus: Equatable, Sendable {
    /// Slots of 16 bytes: state, post count.
    ///
    /// Slot 0 is never used.
    public var slots: Int
    /// Words of 8 bytes for pools.
    public var poolWords: Int

    /// A layout as given.
    public init(slots: Int, poolWords: Int) {
        self.slots = slots
        self.poolWords = poolWords
    }

    /// One million names and 512 MiB of pools; the file is sparse.
    public static let standard = MemoryLayoutOfBus(slots: 1 << 20, poolWords: 64 << 20)

    /// Bytes of the file.
    public var bytes: Int { slots * 16 + poolWords * 8 }
    /// Where the state of a slot lies.
    public static func state(_ slot: Int) -> Int { slot * 16 }
    /// Where the post count of a slot lies.
    public static func posts(_ slot: Int) -> Int { slot * 16 + 8 }
    /// Where a pool word lies.
    public func poolWord(_ index: Int) -> Int { slots * 16 + index * 8 }
}
