internal import Basics

/// A zone as a POSIX rule: `GMT0BST,M3.5.0/1,M10.5.0`, the footer of a zone file.
struct PosixZone {
    private let standard: Int64
    private let summer: Int64
    private let start: Rule?
    private let end: Rule?

    /// Reads a rule; nil if it is none.
    init?(_ text: Substring) {
        var scanner = TextScanner(text)
        guard Self.name(&scanner), let west = Self.clock(&scanner) else { return nil }
        standard = -west
        guard !scanner.isAtEnd else {
            (summer, start, end) = (-west, nil, nil)
            return
        }
        guard Self.name(&scanner) else { return nil }
        if scanner.next == UInt8(ascii: ",") {
            summer = standard + 3600
        } else {
            guard let west = Self.clock(&scanner) else { return nil }
            summer = -west
        }
        guard scanner.take(","), let first = Rule(&scanner), scanner.take(","),
            let last = Rule(&scanner), scanner.isAtEnd
        else { return nil }
        (start, end) = (first, last)
    }

    /// Seconds east of UTC at `seconds` since 1970.
    func offset(at seconds: Int64) -> Int64 {
        guard let start, let end else { return standard }
        // A week less than what nanoseconds in 64 bits reach, so that no offset leads beyond.
        let limit = Int64.max / 1_000_000_000 - 7 * 86_400
        let clamped = min(max(seconds, -limit), limit)
        let year = CivilTime(unix: (clamped + standard) * 1_000_000_000).year
        let begins = start.seconds(in: year) - standard
        let ends = end.seconds(in: year) - summer
        let isSummer =
            begins < ends
            ? (begins..<ends).contains(clamped) : !(ends..<begins).contains(clamped)
        return isSummer ? summer : standard
    }

    /// Three letters and more, or anything between `<` and `>`.
    private static func name(_ scanner: inout TextScanner) -> Bool {
        guard scanner.take("<") else { return scanner.letters().utf8.count >= 3 }
        while !scanner.isAtEnd {
            if scanner.take(">") { return true }
            scanner.skip()
        }
        return false
    }

    /// `5`, `-5:30`, `167:00:00` in seconds.
    fileprivate static func clock(_ scanner: inout TextScanner) -> Int64? {
        let isNegative = scanner.take("-")
        if !isNegative { _ = scanner.take("+") }
        guard let hours = scanner.integer(upTo: 3), hours.value <= 167 else { return nil }
        var total = hours.value * 3600
        for unit in [60, 1] as [Int64] where scanner.take(":") {
            guard let part = scanner.integer(upTo: 2), part.value < 60 else { return nil }
            total += part.value * unit
        }
        return isNegative ? -total : total
    }
}

/// When in a year the clocks change.
private struct Rule {
    private enum Day {
        /// Month, week (5: the last), weekday (0: Sunday).
        case week(Int, Int64, Int64)
        /// 1 to 365, without 29 February.
        case julian(Int64)
        /// 0 to 365.
        case ofYear(Int64)
    }

    private let day: Day
    private let clock: Int64

    init?(_ scanner: inout TextScanner) {
        if scanner.take("M") {
            guard let month = scanner.integer(upTo: 2), (1...12).contains(month.value),
                scanner.take("."), let week = scanner.integer(upTo: 1),
                (1...5).contains(week.value), scanner.take("."),
                let weekday = scanner.integer(upTo: 1), weekday.value <= 6
            else { return nil }
            day = .week(Int(month.value), week.value, weekday.value)
        } else if scanner.take("J") {
            guard let number = scanner.integer(upTo: 3), (1...365).contains(number.value) else {
                return nil
            }
            day = .julian(number.value)
        } else {
            guard let number = scanner.integer(upTo: 3), number.value <= 365 else { return nil }
            day = .ofYear(number.value)
        }
        guard scanner.take("/") else {
            clock = 7200
            return
        }
        guard let time = PosixZone.clock(&scanner) else { return nil }
        clock = time
    }

    /// Seconds since 1970 that the clocks show when they change in `year`.
    func seconds(in year: Int64) -> Int64 {
        let newYear = CivilTime(year: year, month: 1, day: 1).daysSince1970
        let date: Int64
        switch day {
        case .week(let month, let week, let weekday):
            date = Self.day(year, month, week, weekday)
        case .julian(let number):
            let isLeap = CivilTime(year: year, month: 2, day: 29).isValid
            date = newYear + number - (isLeap && number >= 60 ? 0 : 1)
        case .ofYear(let number):
            date = newYear + number
        }
        return date * 86_400 + clock
    }

    private static func day(
        _ year: Int64,
        _ month: Int,
        _ week: Int64,
        _ weekday: Int64
    ) -> Int64 {
        let first = CivilTime(year: year, month: month, day: 1).daysSince1970
        let next = CivilTime(
            year: month == 12 ? year + 1 : year,
            month: month % 12 + 1,
            day: 1
        ).daysSince1970
        // 1970-01-01 was a Thursday (4).
        let firstWeekday = ((first + 4) % 7 + 7) % 7
        var date = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
        while date >= next { date -= 7 }
        return date
    }
}
