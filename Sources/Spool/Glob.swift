/// A pattern for names as shells have it: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before a plain one.
///
/// It works on bytes, so that `?` is one byte; a `[` without its `]` stands for itself.
public struct Glob: Sendable, Equatable {
    private enum Step: Equatable {
        case byte(UInt8)
        case any
        case star
        case set([ClosedRange<UInt8>], negated: Bool)
    }

    /// The pattern as it was written.
    public let pattern: String
    private let steps: [Step]

    /// Reads a pattern; every text is one.
    public init(_ pattern: String) {
        self.pattern = pattern
        let bytes = Array(pattern.utf8)
        var steps: [Step] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "*"): if steps.last != .star { steps.append(.star) }
            case UInt8(ascii: "?"): steps.append(.any)
            case UInt8(ascii: "["): steps.append(Self.set(bytes, &index) ?? .byte(byte))
            case UInt8(ascii: "\\") where index < bytes.count:
                steps.append(.byte(bytes[index]))
                index += 1
            default: steps.append(.byte(byte))
            }
        }
        self.steps = steps
    }

    /// True if all of `text` fits the pattern.
    public func matches(_ text: String) -> Bool {
        var copy = text
        return copy.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// True if all of `bytes` fit the pattern.
    ///
    /// Going back to the latest star only keeps it quick.
    public func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        var step = 0
        var star: (step: Int, at: Int)?
        while at < bytes.count {
            if step < steps.count, steps[step] == .star {
                star = (step, at)
                step += 1
            } else if step < steps.count, Self.fits(bytes[at], steps[step]) {
                at += 1
                step += 1
            } else if let back = star {
                star = (back.step, back.at + 1)
                at = back.at + 1
                step = back.step + 1
            } else {
                return false
            }
        }
        while step < steps.count, steps[step] == .star { step += 1 }
        return step == steps.count
    }

    private static func fits(_ byte: UInt8, _ step: Step) -> Bool {
        switch step {
        case .byte(let wanted): byte == wanted
        case .any: true
        case .star: false
        case .set(let ranges, let negated): ranges.contains { $0.contains(byte) } != negated
        }
    }

    /// The set that begins at `index`, just after its `[`; nil if it has no end.
    private static func set(_ bytes: [UInt8], _ index: inout Int) -> Step? {
        var at = index
        var negated = false
        if at < bytes.count, bytes[at] == UInt8(ascii: "!") || bytes[at] == UInt8(ascii: "^") {
            negated = true
            at += 1
        }
        let start = at
        var ranges: [ClosedRange<UInt8>] = []
        while at < bytes.count {
            let low = bytes[at]
            // A `]` that comes first is a member.
            if low == UInt8(ascii: "]"), at > start {
                index = at + 1
                return .set(ranges, negated: negated)
            }
            if at + 2 < bytes.count, bytes[at + 1] == UInt8(ascii: "-"),
                bytes[at + 2] != UInt8(ascii: "]")
            {
                if low <= bytes[at + 2] { ranges.append(low...bytes[at + 2]) }
                at += 3
            } else {
                ranges.append(low...low)
                at += 1
            }
        }
        return nil
    }
}
