internal import Basics

/// Reads the forms of `TimeExpression`.
struct TimeReader {
    let now: Int64
    let zone: Zone

    /// Reads `text`, with or without blanks around it.
    func read(_ text: String) -> TimeReading {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        switch scanner.next {
        case UInt8(ascii: "@"): return unixTime(&scanner)
        case UInt8(ascii: "-"), UInt8(ascii: "+"): return relative(&scanner)
        case .some(let byte) where (0x30...0x39).contains(byte):
            return ago(scanner) ?? written(&scanner)
        default: return named(&scanner)
        }
    }

    private func unixTime(_ scanner: inout TextScanner) -> TimeReading {
        _ = scanner.take("@")
        let isNegative = scanner.take("-")
        guard let number = scanner.decimal() else { return .unknown }
        scanner.skipSpaces()
        guard scanner.isAtEnd else { return .unknown }
        guard let size = number.scaled(by: DurationText.second) else {
            return .time(TimeExpression(exactly: isNegative ? .min : .max))
        }
        return .time(TimeExpression(isNegative ? -size : size, digits: number.digits))
    }

    private func relative(_ scanner: inout TextScanner) -> TimeReading {
        let isBack = scanner.take("-")
        if !isBack { _ = scanner.take("+") }
        guard let span = DurationText.parse(scanner.rest) else { return .unknown }
        return moved(by: isBack ? -span : span)
    }

    /// `2h ago`, `1 h 30 min ago`; nil if it is no such thing.
    private func ago(_ scanner: TextScanner) -> TimeReading? {
        var words = scanner.rest.split(separator: " ")
        guard words.count > 1, words.popLast() == "ago" else { return nil }
        return DurationText.parse(words.joined(separator: " ")).map { moved(by: -$0) }
    }

    private func moved(by span: Int64) -> TimeReading {
        let (sum, over) = now.addingReportingOverflow(span)
        return .time(TimeExpression(exactly: over ? (span < 0 ? .min : .max) : sum))
    }

    /// A word, then perhaps a clock and a zone: `now`, `today UTC`, `yesterday 03:20`.
    private func named(_ scanner: inout TextScanner) -> TimeReading {
        let word = scanner.letters().lowercased()
        let isSpaced = scanner.skipSpaces()
        if word == "now" { return scanner.isAtEnd ? moved(by: 0) : .unknown }
        let days: Int64
        switch word {
        case "today": days = 0
        case "yesterday": days = -1
        case "tomorrow": days = 1
        case "mon", "tue", "wed", "thu", "fri", "sat", "sun":
            // A weekday before a date, as journalctl prints it; the date decides.
            return isSpaced ? written(&scanner, needsDate: true) : .unknown
        default: return .unknown
        }
        guard isSpaced || scanner.isAtEnd else { return .unknown }
        return clock(&scanner, days: days, needsClock: false)
    }

    /// `2026-11-30`, with a clock and a zone or without, or a clock alone.
    private func written(
        _ scanner: inout TextScanner,
        needsDate: Bool = false
    ) -> TimeReading {
        let ahead = scanner
        guard let first = scanner.integer(upTo: 4) else { return .unknown }
        guard scanner.take("-") else {
            if needsDate { return .unknown }
            scanner = ahead
            return clock(&scanner, days: 0, needsClock: true)
        }
        guard first.digits == 4, let month = scanner.integer(upTo: 2), scanner.take("-"),
            let day = scanner.integer(upTo: 2)
        else { return .unknown }
        let date = CivilTime(year: first.value, month: Int(month.value), day: Int(day.value))
        let isParted = scanner.take("T") || scanner.take("t")
        if !isParted { scanner.skipSpaces() }
        return finish(&scanner, needsClock: isParted) { _ in date }
    }

    /// A clock time of the day that is `days` away from today, in the zone that is named after it.
    private func clock(
        _ scanner: inout TextScanner,
        days: Int64,
        needsClock: Bool
    ) -> TimeReading {
        finish(&scanner, needsClock: needsClock) { zone in
            let today = zone.civil(at: now)
            let noon = (today.daysSince1970 + days) * 86_400 + 43_200
            return CivilTime(unix: noon * DurationText.second)
        }
    }

    /// The clock, the zone, and the instant that they make with the date.
    private func finish(
        _ scanner: inout TextScanner,
        needsClock: Bool,
        date: (Zone) -> CivilTime
    ) -> TimeReading {
        var clock = ClockFields()
        let hasClock = scanner.next.map { (0x30...0x39).contains($0) } ?? false
        guard hasClock || !needsClock else { return .unknown }
        if hasClock {
            guard clock.read(&scanner) else { return .unknown }
            scanner.skipSpaces()
        }
        guard let zone = ZoneText.read(scanner.rest, default: zone) else { return .unknown }
        var time = date(zone)
        time.hour = clock.hour
        time.minute = clock.minute
        time.second = clock.second
        time.nanosecond = clock.nanosecond
        guard time.isValid, time.year >= 1 else {
            time.hour = 0
            time.minute = 0
            time.second = 0
            return .impossible(time.isValid ? "no such clock time" : "no such date")
        }
        return .time(TimeExpression(zone.instant(of: time), digits: clock.digits))
    }
}

/// The clock part of a written time: `03:20`, `03:20:00`, `03:20:00.123456`.
private struct ClockFields {
    var hour = 0
    var minute = 0
    var second = 0
    var nanosecond = 0
    /// Digits after the point.
    var digits = 0

    /// Reads them; false if they are no clock time.
    ///
    /// Ranges are not checked here.
    mutating func read(_ scanner: inout TextScanner) -> Bool {
        guard let hours = scanner.integer(upTo: 2), scanner.take(":"),
            let minutes = scanner.integer(upTo: 2), minutes.digits == 2
        else { return false }
        hour = Int(hours.value)
        minute = Int(minutes.value)
        guard scanner.take(":") else { return true }
        guard let seconds = scanner.integer(upTo: 2), seconds.digits == 2 else { return false }
        second = Int(seconds.value)
        guard scanner.take(".") else { return true }
        guard let fraction = scanner.fraction() else { return false }
        nanosecond = Int(fraction.value)
        digits = fraction.digits
        return true
    }
}
