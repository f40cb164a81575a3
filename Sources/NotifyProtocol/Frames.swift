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
    public static let eventBytes = 56
    /// Bytes of what is said of a name, without the name itself.
    public static let nameBytes = 64
    /// Memory files of one broker: 0 is everybody's, the others have restricted readers.
    public static let memoriesMax = 256
    /// The shortest and the longest deadline of a claim, ms.
    public static let deadlineMilliseconds: ClosedRange<UInt32> = 10...86_400_000
    /// The longest that a claim outlives its connection, s; more is cut.
    public static let lingerSecondsMax: UInt32 = 300

    /// What a frame is.
    public enum Kind: UInt16, Sendable {
        case hello = 1
        case welcome, request, answer, events, memory
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
            let fields = (
                UInt64(kind) | UInt64(count) << 16 | UInt64(length) << 32,
                UInt64(serial) | UInt64(flags) << 32
            )
            withUnsafeBytes(of: (fields.0.littleEndian, fields.1.littleEndian)) { writer.raw($0) }
        }
    }

    /// Puts the length of a finished frame into its header.
    public static func seal(_ writer: inout ByteWriter) {
        writer.patch(u32: UInt32(writer.count), at: 4)
    }

    /// True for a name that the bus takes: up to 511 bytes, no NUL; the empty one is a name too.
    public static func isValid(name: String) -> Bool {
        name.utf8.count <= nameBytesMax && !name.utf8.contains(0)
    }
}
