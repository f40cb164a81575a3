internal import Basics

/// A time as `--since` and `--until` take it.
///
/// All forms that output prints are among them.
///
///     2026-11-30 03:20:00.123456   2026-11-30T03:20:00.123456789Z   2026-11-30 03:20 +01:00
///     2026-11-30   03:20   now   today   yesterday   tomorrow   -2h   2 h ago   +5m   @1796000000
///
/// Without a zone it is read in the zone that is given. A clock time that occurs twice is the
/// earlier one, one that does not occur is the next instant that does; a date that does not exist
/// is refused.
struct TimeExpression: Equatable {
    /// The first nanosecond that it means.
    var first: Int64
    /// The last: a time printed to the microsecond means all of that microsecond, so that
    /// `--until` at a printed time includes its record.
    var last: Int64

    /// What it means at the time `now` in `zone`.
    ///
    /// - Throws: what is wrong with it; `flag` is named in the message.
    static func parse(
        _ text: String,
        flag: Flag,
        now: Int64,
        zone: Zone
    ) throws(CommandError) -> TimeExpression {
        let reader = TimeReader(now: now, zone: zone)
        switch reader.read(text) {
        case .time(let time): return time
        case .impossible(let what):
            throw CommandError(
                "--\(flag.name): '\(text)' does not exist: \(what)",
                hint: "check day, month and clock"
            )
        case .unknown:
            throw CommandError(
                "--\(flag.name): '\(text)' is not a time",
                hint: "write it as '2026-11-30 03:20:00', 03:20, today, yesterday, -2h, "
                    + "'2h ago' or @1796000000, with UTC or +01:00 after it if it is not local"
            )
        }
    }

    init(exactly instant: Int64) {
        first = instant
        last = instant
    }

    /// `instant`, written with so many digits after the point.
    ///
    /// Six and more are what output prints; a coarser time is the instant itself, as in journalctl.
    init(_ instant: Int64, digits: Int) {
        first = instant
        var width: Int64 = 1
        if (6..<9).contains(digits) { for _ in digits..<9 { width *= 10 } }
        let (sum, over) = instant.addingReportingOverflow(width - 1)
        last = over ? .max : sum
    }
}

/// What became of a text that should be a time.
enum TimeReading: Equatable {
    case time(TimeExpression)
    case impossible(String)
    case unknown
}
