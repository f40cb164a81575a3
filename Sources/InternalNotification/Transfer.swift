internal import Telemetry

/// The descriptor of one transfer in a peer's table: eight registers.
public struct TransferDescriptor: Equatable, Sendable {
    /// Registers that a descriptor takes.
    public static let registers = 8
    /// Which of them is `sent`.
    static let sentIndex = 6

    /// First register of a transfer's descriptor in the table.
    static func slot(of number: UInt64) -> Int {
        Int(number % UInt64(Limits.transfersMax)) * registers
    }

    /// Number of the transfer, from 1 in each life of the ring.
    public var number: UInt64
    /// First register of its bytes in the ring.
    public var offset: Int
    /// Registers that its bytes take; they may wrap around the end of the ring.
    public var chunks: Int
    /// Bytes before compression.
    public var size: Int
    /// Bytes after compression.
    public var compressedSize: Int
    /// CRC-32C of the compressed bytes.
    public var crc: UInt32
    /// See `isUrgent`.
    public var flags: UInt32
    /// Sequence numbers of the first and last message in it.
    public var sequences: ClosedRange<UInt64>
    /// Highest sequence number that the sender had given out when it wrote this; one that stops
    /// before all is in the ring writes it anew.
    public var sent: UInt64

    /// Which run of the sender wrote it: names and rings outlive their instance by a moment.
    public var epoch: UInt64

    /// Somebody waits for "stored": commit at once.
    public var isUrgent: Bool { flags & 1 != 0 }
    /// The sender keeps nothing before it: a gap before it stays one.
    public var isOldest: Bool { flags & 2 != 0 }

    /// A descriptor as given.
    public init(
        number: UInt64,
        offset: Int,
        chunks: Int,
        size: Int,
        compressedSize: Int,
        crc: UInt32,
        isUrgent: Bool,
        isOldest: Bool,
        sequences: ClosedRange<UInt64>,
        sent: UInt64,
        epoch: UInt64
    ) {
        self.number = number
        self.offset = offset
        self.chunks = chunks
        self.size = size
        self.compressedSize = compressedSize
        self.crc = crc
        flags = (isUrgent ? 1 : 0) | (isOldest ? 2 : 0)
        self.sequences = sequences
        self.sent = sent
        self.epoch = epoch
    }

    /// The eight registers.
    public var words: [UInt64] {
        [
            number,
            UInt64(offset) << 32 | UInt64(chunks),
            UInt64(size) << 32 | UInt64(compressedSize),
            UInt64(crc) << 32 | UInt64(flags),
            sequences.lowerBound,
            sequences.upperBound,
            sent,
            epoch,
        ]
    }

    /// Reads eight registers; nil if they cannot describe a transfer of a ring of `ring` registers.
    public init?(words: [UInt64], ring: Int) {
        guard words.count == Self.registers, words[4] >= 1, words[4] <= words[5],
            words[5] <= words[6], words[6] <= Limits.sequenceMax
        else { return nil }
        number = words[0]
        offset = Int(words[1] >> 32)
        chunks = Int(words[1] & 0xffff_ffff)
        size = Int(words[2] >> 32)
        compressedSize = Int(words[2] & 0xffff_ffff)
        crc = UInt32(words[3] >> 32)
        flags = UInt32(truncatingIfNeeded: words[3])
        sequences = words[4]...words[5]
        sent = words[6]
        epoch = words[7]
        guard offset < ring, chunks <= ring, compressedSize <= chunks * 8 else { return nil }
    }
}
