public import Basics

/// The layout of a memory file: register slots first, then the words of pools.
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

    /// A file of restricted readers: 131,072 names and 64 MiB of pools; sparse as well.
    public static let restricted = MemoryLayoutOfBus(slots: 1 << 17, poolWords: 8 << 20)

    /// Bytes of the file.
    public var bytes: Int { slots * 16 + poolWords * 8 }
    /// Where the state of a slot lies.
    public static func state(_ slot: Int) -> Int { slot * 16 }
    /// Where the post count of a slot lies.
    public static func posts(_ slot: Int) -> Int { slot * 16 + 8 }
    /// Where a pool word lies.
    public func poolWord(_ index: Int) -> Int { slots * 16 + index * 8 }
}

/// A memory file that comes beside a frame: its number, and how it is laid out.
public struct MemoryNotice: Equatable, Sendable {
    /// Below `Frames.memoriesMax`; a number that comes again stands for the newer file.
    public var number: Int
    /// Slots and pool words.
    public var layout: MemoryLayoutOfBus

    /// A notice as given.
    public init(number: Int, layout: MemoryLayoutOfBus) {
        self.number = number
        self.layout = layout
    }

    /// Reads a whole frame; nil if it is no notice of a memory file.
    public init?(frame: [UInt8]) {
        let found = frame.withUnsafeBytes { bytes -> MemoryNotice? in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.memory.rawValue
            else { return nil }
            return try? MemoryNotice(from: &reader)
        }
        guard let found else { return nil }
        self = found
    }

    /// Appends 24 bytes.
    public func append(to writer: inout ByteWriter) {
        writer.u32(UInt32(number))
        writer.u32(0)
        writer.u64(UInt64(layout.slots))
        writer.u64(UInt64(layout.poolWords))
    }

    /// Reads what `append` wrote; numbers beyond the limits are errors.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        let start = reader.offset
        number = Int(try reader.u32())
        _ = try reader.u32()
        let (slots, words) = (try reader.u64(), try reader.u64())
        guard number < Frames.memoriesMax, slots <= MemoryLayoutOfBus.standard.slots,
            words <= MemoryLayoutOfBus.standard.poolWords
        else { throw TruncatedBytes(offset: start) }
        layout = MemoryLayoutOfBus(slots: Int(slots), poolWords: Int(words))
    }
}
