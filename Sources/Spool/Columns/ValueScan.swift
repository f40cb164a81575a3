/// Finds where values end in text that is JSON, or looks like it.
enum ValueScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Where the closing quote is, from just behind the opening one; nil without one, or where a
    /// control character comes first.
    @inline(__always)
    static func stringEnd(
        _ start: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        var at = start
        while true {
            while end - at >= 8 {
                let word = UnsafeRawPointer(at).loadUnaligned(as: UInt64.self)
                let quote = word ^ (ones &* 0x22)
                let backslash = word ^ (ones &* 0x5c)
                let hits =
                    (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
                        | ((word &- ones &* 0x20) & ~word)) & highs
                guard hits == 0 else {
                    at += hits.trailingZeroBitCount / 8
                    break
                }
                at += 8
            }
            guard at < end else { return nil }
            let byte = at.pointee
            if byte == 0x22 { return at }
            if byte < 0x20 { return nil }
            if byte == 0x5c {
                guard end - at >= 2, at[1] >= 0x20 else { return nil }
                at += 2
            } else {
                at += 1
            }
        }
    }

    /// Where a number or a word ends: at white space, a comma or a closing bracket, or at `end`.
    ///
    /// Nil where a byte comes that neither has.
    @inline(__always)
    static func bareEnd(
        _ start: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        var at = start
        while at < end {
            switch at.pointee {
            case 0x30...0x39, 0x61...0x7a, 0x41...0x5a, 0x2e, 0x2d, 0x2b: at += 1
            case 0x20, 0x09, 0x0a, 0x0d, 0x2c, 0x5d, 0x7d: return at > start ? at : nil
            default: return nil
            }
        }
        return at > start ? at : nil
    }

    /// True if a colon comes next after white space: what was before is a key.
    @inline(__always)
    static func isKey(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        var at = start
        while at < end {
            switch at.pointee {
            case 0x20, 0x09, 0x0a, 0x0d: at += 1
            default: return at.pointee == UInt8(ascii: ":")
            }
        }
        return false
    }
}
