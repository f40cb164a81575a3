internal import Basics

/// A range of times, narrowed by comparisons.
struct TimeBounds: Equatable {
    /// The earliest, inclusive, ns since 1970; nil for any.
    private(set) var since: Int64?
    /// The latest, inclusive.
    private(set) var until: Int64?
    /// True where no time is left.
    private(set) var isEmpty = false

    /// Takes in `time_ns KIND bound`.
    mutating func narrow(_ kind: RecordTest.Kind, _ bound: Int64) {
        let (before, under) = bound.subtractingReportingOverflow(1)
        let (after, over) = bound.addingReportingOverflow(1)
        switch kind {
        case .equal:
            raise(to: bound)
            lower(to: bound)
        case .greaterOrEqual: raise(to: bound)
        case .greater: if over { isEmpty = true } else { raise(to: after) }
        case .lessOrEqual: lower(to: bound)
        case .less: if under { isEmpty = true } else { lower(to: before) }
        default: break
        }
    }

    /// Takes in `time KIND text`, as SQL compares texts, byte by byte.
    ///
    /// Printed times sort as the times do, so every text, whatever it says, lies between two of
    /// them: no reading of times, and the same answer as without this.
    mutating func narrow(_ kind: RecordTest.Kind, _ text: String) {
        let bytes = Array(text.utf8)
        switch kind {
        case .greaterOrEqual: raise(toFirst: bytes, orEqual: true)
        case .greater: raise(toFirst: bytes, orEqual: false)
        case .less: lower(belowFirst: bytes, orEqual: true)
        case .lessOrEqual: lower(belowFirst: bytes, orEqual: false)
        case .equal:
            raise(toFirst: bytes, orEqual: true)
            lower(belowFirst: bytes, orEqual: false)
        default: break
        }
    }

    private mutating func raise(to bound: Int64) {
        since = max(since ?? bound, bound)
        check()
    }

    private mutating func lower(to bound: Int64) {
        until = min(until ?? bound, bound)
        check()
    }

    private mutating func check() {
        if let since, let until, since > until { isEmpty = true }
    }

    private mutating func raise(toFirst text: [UInt8], orEqual: Bool) {
        if let first = Self.first(notBefore: text, orEqual) {
            raise(to: first)
        } else {
            isEmpty = true
        }
    }

    private mutating func lower(belowFirst text: [UInt8], orEqual: Bool) {
        guard let first = Self.first(notBefore: text, orEqual) else { return }
        if first == .min { isEmpty = true } else { lower(to: first - 1) }
    }

    /// The first time whose text is above `text`, or equal to it where `orEqual`; nil for none.
    private static func first(notBefore text: [UInt8], _ orEqual: Bool) -> Int64? {
        var printer = StampPrinter()
        var stamp: [UInt8] = []
        func isReached(_ time: Int64) -> Bool {
            stamp.removeAll(keepingCapacity: true)
            printer.append(time, to: &stamp)
            if stamp == text { return orEqual }
            return text.lexicographicallyPrecedes(stamp)
        }
        if isReached(.min) { return .min }
        guard isReached(.max) else { return nil }
        var (low, high) = (Int64.min, Int64.max)
        while high > low + 1 {
            // Half the sum, without the overflow that the sum could have.
            let middle = (low >> 1) + (high >> 1) + (low & high & 1)
            if isReached(middle) { high = middle } else { low = middle }
        }
        return high
    }
}
