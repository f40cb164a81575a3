/// A set of sequence numbers kept as sorted, disjoint, never touching closed ranges.
///
/// It makes deduplication exact for ever at a few bytes a peer: numbers arrive nearly in order, so
/// a healthy peer is one range. Holes between ranges are what is missing.
public struct IntervalSet: Equatable, Sendable {
    /// The ranges, ascending; between two of them at least one number is absent.
    public private(set) var ranges: [ClosedRange<UInt64>] = []

    /// The empty set.
    public init() {}

    /// True if no number is in the set.
    public var isEmpty: Bool { ranges.isEmpty }

    /// How many numbers are in the set.
    public var count: UInt64 {
        ranges.reduce(0) { $0.addingClamped(Self.size($1)) }
    }

    /// The highest number in the set.
    public var last: UInt64? { ranges.last?.upperBound }

    /// The highest n for which every number of 1...n is in the set; 0 if 1 is absent.
    public var contiguous: UInt64 {
        guard let first = ranges.first, first.lowerBound <= 1 else { return 0 }
        return first.upperBound
    }

    /// The highest n for which every number of `start + 1 ... n` is in the set; `start` if the next
    /// one is absent.
    public func contiguous(after start: UInt64) -> UInt64 {
        guard start < .max else { return start }
        let index = firstRange(endingAtOrAfter: start + 1)
        guard index < ranges.count, ranges[index].lowerBound <= start + 1 else { return start }
        return ranges[index].upperBound
    }

    /// The holes in 1...last: what was skipped and has not come (yet).
    public func holes(upTo last: UInt64) -> [ClosedRange<UInt64>] {
        var found: [ClosedRange<UInt64>] = []
        var next: UInt64 = 1
        for range in ranges {
            if range.lowerBound > last { break }
            if range.lowerBound > next { found.append(next...(range.lowerBound - 1)) }
            if range.upperBound >= last { return found }
            next = range.upperBound + 1
        }
        if next <= last { found.append(next...last) }
        return found
    }

    /// The parts of `range` that are not in the set, ascending.
    public func gaps(in range: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        var found: [ClosedRange<UInt64>] = []
        var next = range.lowerBound
        for known in ranges[firstRange(endingAtOrAfter: next)...] {
            if known.lowerBound > range.upperBound { break }
            if known.lowerBound > next { found.append(next...(known.lowerBound - 1)) }
            if known.upperBound >= range.upperBound { return found }
            next = known.upperBound + 1
        }
        found.append(next...range.upperBound)
        return found
    }

    /// True if `number` is in the set.
    public func contains(_ number: UInt64) -> Bool {
        let index = firstRange(endingAtOrAfter: number)
        return index < ranges.count && ranges[index].lowerBound <= number
    }

    /// Adds one number; false if it was there already.
    public mutating func insert(_ number: UInt64) -> Bool {
        insert(number...number) == 1
    }

    /// Adds every number of `range`; the result is how many of them are new.
    @discardableResult
    public mutating func insert(_ range: ClosedRange<UInt64>) -> UInt64 {
        // The common case: the next number of a peer that is in order.
        if let tail = ranges.last, tail.upperBound < .max, range.lowerBound == tail.upperBound + 1 {
            ranges[ranges.count - 1] = tail.lowerBound...range.upperBound
            return Self.size(range)
        }
        var merged = range
        var known: UInt64 = 0
        // One before the lower bound, so that a range that only touches is merged too.
        let start = firstRange(endingAtOrAfter: range.lowerBound == 0 ? 0 : range.lowerBound - 1)
        var end = start
        while end < ranges.count,
            ranges[end].lowerBound <= (range.upperBound == .max ? .max : range.upperBound + 1)
        {
            let other = ranges[end]
            let low = max(other.lowerBound, range.lowerBound)
            let high = min(other.upperBound, range.upperBound)
            if low <= high { known = known.addingClamped(Self.size(low...high)) }
            merged =
                min(merged.lowerBound, other.lowerBound)...max(merged.upperBound, other.upperBound)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: [merged])
        return Self.size(range) - known
    }

    /// Appends the set: the number of ranges, then gap and length of each, as varints.
    public func encode(into writer: inout ByteWriter) {
        writer.varint(UInt64(ranges.count))
        var next: UInt64 = 0
        for range in ranges {
            writer.varint(range.lowerBound - next)
            writer.varint(range.upperBound - range.lowerBound)
            next = range.upperBound
        }
    }

    /// Reads what `encode` wrote.
    ///
    /// Ranges that overlap or touch are merged; overflow is an error.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        let count = try reader.varint()
        var next: UInt64 = 0
        for _ in 0..<count {
            let at = reader.offset
            let (low, over) = next.addingReportingOverflow(try reader.varint())
            let (high, above) = low.addingReportingOverflow(try reader.varint())
            if over || above { throw TruncatedBytes(offset: at) }
            insert(low...high)
            next = high
        }
    }

    /// Numbers in a range; 2^64 of them, which no peer can send, count as one less.
    private static func size(_ range: ClosedRange<UInt64>) -> UInt64 {
        (range.upperBound - range.lowerBound).addingClamped(1)
    }

    /// Index of the first range whose end is not below `number`; `ranges.count` if there is none.
    private func firstRange(endingAtOrAfter number: UInt64) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, over) = addingReportingOverflow(other)
        return over ? .max : sum
    }
}
