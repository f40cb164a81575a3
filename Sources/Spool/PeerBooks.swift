internal import Basics
internal import Telemetry

/// The two variable parts of a peer's books as bytes: what is accounted for, and the holes.
///
/// Both are read as data from outside: a damaged file must not stop a reader.
enum PeerBooks {
    static func accounted(_ set: IntervalSet) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        set.encode(into: &writer)
        return writer.bytes
    }

    /// As `IntervalSet` writes it; overflow and ranges out of order are damage.
    static func accounted(from bytes: UnsafeRawBufferPointer) throws -> IntervalSet {
        var reader = ByteReader(bytes)
        var set = IntervalSet()
        var next: UInt64 = 0
        for _ in 0..<(try reader.varint()) {
            let (low, over) = next.addingReportingOverflow(try reader.varint())
            let (high, above) = low.addingReportingOverflow(try reader.varint())
            // All 2^64 numbers would not fit the set's own counts.
            if over || above || high == .max || !set.isEmpty && low <= next {
                throw TruncatedColumn(name: "accounted")
            }
            set.insert(low...high)
            next = high
        }
        return set
    }

    static func holes(_ holes: [Hole]) -> [UInt8] {
        var writer = ByteWriter(capacity: 2 + holes.count * 16)
        writer.varint(UInt64(holes.count))
        for hole in holes {
            writer.varint(hole.sequences.lowerBound)
            writer.varint(hole.sequences.upperBound - hole.sequences.lowerBound)
            writer.zigzag(hole.times.lowerBound)
            writer.zigzag(hole.times.upperBound &- hole.times.lowerBound)
        }
        return writer.bytes
    }

    static func holes(from bytes: UnsafeRawBufferPointer) throws -> [Hole] {
        var reader = ByteReader(bytes)
        var holes: [Hole] = []
        for _ in 0..<(try reader.varint()) {
            let first = try reader.varint()
            let (last, over) = first.addingReportingOverflow(try reader.varint())
            let begin = try reader.zigzag()
            let end = begin &+ (try reader.zigzag())
            if over || end < begin { throw TruncatedColumn(name: "holes") }
            holes.append(Hole(sequences: first...last, times: begin...end))
        }
        return holes
    }
}
