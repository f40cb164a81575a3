/// Prints times as `2026-11-30T03:20:00.123456789Z`, as JSON and SQL show them; neighbours mostly
/// share their second, so its text is kept.
public struct StampPrinter {
    private var second = Int64.min
    private var text: [UInt8] = []

    /// A printer that has printed nothing yet.
    public init() {}

    /// Appends a time in nanoseconds since 1970; always 30 bytes.
    public mutating func append(_ unix: Int64, to out: inout [UInt8]) {
        let unix = PrintableTime.clamped(unix)
        let wanted = unix.flooredDivision(by: 1_000_000_000)
        if wanted != second || text.isEmpty {
            second = wanted
            text.removeAll(keepingCapacity: true)
            CivilTime.appendRFC3339(unix, to: &text)
            // The fraction and the Z are appended anew for each time.
            text.removeLast(10)
        }
        out.append(contentsOf: text)
        out.appendDecimal(UInt64(unix - wanted * 1_000_000_000), width: 9)
        out.append(UInt8(ascii: "Z"))
    }
}

/// Times as the calendar can hold them.
public enum PrintableTime {
    /// The first whole second that nanoseconds in 64 bits hold, in 1677.
    ///
    /// Calendar arithmetic on the part of a second before it would not fit, and a record may carry
    /// any number.
    public static let earliest: Int64 = -9_223_372_036_000_000_000

    /// `unix`, or the earliest time that can be printed where that is later.
    public static func clamped(_ unix: Int64) -> Int64 {
        max(unix, earliest)
    }
}
