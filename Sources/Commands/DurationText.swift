/// Spans of time as people write them: `90`, `10s`, `1h30m`, `2 days`, `1.5h`.
enum DurationText {
    private static let units: [(names: [String], nanoseconds: Int64)] = [
        (["ns", "nsec"], 1),
        (["us", "usec", "µs"], 1_000),
        (["ms", "msec"], 1_000_000),
        (["s", "sec", "secs", "second", "seconds"], second),
        (["m", "min", "mins", "minute", "minutes"], 60 * second),
        (["h", "hr", "hour", "hours"], 3600 * second),
        (["d", "day", "days"], 86_400 * second),
        (["w", "week", "weeks"], 7 * 86_400 * second),
        // As systemd counts them: 30.44 and 365.25 days.
        (["M", "month", "months"], 2_629_800 * second),
        (["y", "year", "years"], 31_557_600 * second),
    ]
    static let second: Int64 = 1_000_000_000

    /// Nanoseconds; nil if it is no span or is longer than 64 bits hold.
    ///
    /// A number alone is seconds.
    static func parse(_ text: some StringProtocol) -> Int64? {
        var scanner = TextScanner(text)
        var total: Int64 = 0
        var parts = 0
        scanner.skipSpaces()
        while !scanner.isAtEnd {
            guard let number = scanner.decimal() else { return nil }
            scanner.skipSpaces()
            let name = scanner.letters()
            if name.isEmpty, parts > 0 || !scanner.isAtEnd { return nil }
            guard let unit = name.isEmpty ? second : nanoseconds(name),
                let span = number.scaled(by: unit)
            else { return nil }
            let (sum, over) = total.addingReportingOverflow(span)
            if over { return nil }
            total = sum
            parts += 1
            scanner.skipSpaces()
        }
        return parts > 0 ? total : nil
    }

    /// The two largest units of a span in seconds: `3d 4h`, `1m 5s`, `0s`.
    static func short(_ seconds: UInt64) -> String {
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? parts.count - 1
        return parts[first...].prefix(2).map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }

    private static func nanoseconds(_ name: String) -> Int64? {
        units.first { $0.names.contains(name) }?.nanoseconds
    }
}

/// A decimal number as it was written, exact: whole part and nine digits of the fraction.
struct Decimal {
    /// Before the point.
    var whole: Int64
    /// Billionths after the point, cut and not rounded.
    var billionths: Int64
    /// How many digits stood after the point.
    var digits: Int

    /// Times `unit`, rounded down; nil where 64 bits do not reach.
    func scaled(by unit: Int64) -> Int64? {
        let (first, over) = whole.multipliedReportingOverflow(by: unit)
        let (high, low) = billionths.multipliedFullWidth(by: unit)
        // The fraction is below 1 and the unit fits, so the quotient fits as well.
        let part = DurationText.second.dividingFullWidth((high, low)).quotient
        let (sum, above) = first.addingReportingOverflow(part)
        return over || above ? nil : sum
    }
}
