import Basics
import Testing

@testable import Commands

/// 2026-11-30 03:20:00 UTC, a Monday.
private let now: Int64 = 1_796_008_800_000_000_000

private func read(_ text: String, zone: Zone = .utc, now: Int64 = now) -> TimeExpression? {
    guard case .time(let time) = TimeReader(now: now, zone: zone).read(text) else { return nil }
    return time
}

private func utc(
    _ year: Int64,
    _ month: Int,
    _ day: Int,
    _ hour: Int = 0,
    _ minute: Int = 0,
    _ second: Int = 0,
    _ nanosecond: Int = 0
) -> Int64? {
    CivilTime(
        year: year,
        month: month,
        day: day,
        hour: hour,
        minute: minute,
        second: second,
        nanosecond: nanosecond
    ).unix
}

/// London's clocks in 2024: forward on 31 March, back on 27 October, both at 01:00 UTC.
private let london = Zone { seconds in
    (1_711_846_800..<1_729_990_800).contains(seconds) ? 3600 : 0
}

@Test func writtenTimes() {
    let table: [(String, Int64?)] = [
        ("2026-11-30 03:20:00.123456789", utc(2026, 11, 30, 3, 20, 0, 123_456_789)),
        ("2026-11-30T03:20:00.123456789Z", utc(2026, 11, 30, 3, 20, 0, 123_456_789)),
        ("2026-11-30 03:20:00", utc(2026, 11, 30, 3, 20)),
        ("2026-11-30 03:20", utc(2026, 11, 30, 3, 20)),
        ("2026-11-30", utc(2026, 11, 30)),
        ("  2026-11-30  ", utc(2026, 11, 30)),
        ("Mon 2026-11-30 03:20:00 UTC", utc(2026, 11, 30, 3, 20)),
        ("2026-11-30 03:20 +01:00", utc(2026, 11, 30, 2, 20)),
        ("2026-11-30T03:20:00-0530", utc(2026, 11, 30, 8, 50)),
        ("2026-11-30 03:20 +02", utc(2026, 11, 30, 1, 20)),
        ("2024-02-29", utc(2024, 2, 29)),
        ("03:20", utc(2026, 11, 30, 3, 20)),
        ("3:20:01.5", utc(2026, 11, 30, 3, 20, 1, 500_000_000)),
        ("today", utc(2026, 11, 30)),
        ("yesterday", utc(2026, 11, 29)),
        ("tomorrow", utc(2026, 12, 1)),
        ("yesterday 12:30 UTC", utc(2026, 11, 29, 12, 30)),
        ("now", now),
        ("@1796000000", 1_796_000_000_000_000_000),
        ("@1700000000.5", 1_700_000_000_500_000_000),
        ("@-1.5", -1_500_000_000),
        ("-2h", now - 7200 * 1_000_000_000),
        ("- 2 hours", now - 7200 * 1_000_000_000),
        ("+5m", now + 300 * 1_000_000_000),
        ("+1h", now + 3600 * 1_000_000_000),
        ("2h ago", now - 7200 * 1_000_000_000),
        ("2 h ago", now - 7200 * 1_000_000_000),
        ("1h 30min ago", now - 5400 * 1_000_000_000),
        ("-1.5d", now - 129_600 * 1_000_000_000),
        ("1969-12-31 23:59:59", -1_000_000_000),
        ("9999-12-31", .max),
        ("0001-01-01", .min),
        ("@99999999999999999", .max),
        ("-9223372036s", now - 9_223_372_036 * 1_000_000_000),
    ]
    for (text, expected) in table { #expect(read(text)?.first == expected, "\(text)") }
}

@Test(arguments: [
    "2024-02-30", "2023-02-29", "2026-13-01", "2026-00-10", "2026-11-31", "25:00", "24:00",
    "12:60", "2026-11-30 12:00:60", "0000-01-01",
])
func impossibleTimesAreRefused(text: String) {
    guard case .impossible = TimeReader(now: now, zone: .utc).read(text) else {
        Issue.record("\(text) was taken")
        return
    }
}

@Test(arguments: [
    "", " ", "x", "2026", "26-11-30", "2026-11", "2026-1130", "2026-11-30T", "2026-11-30x",
    "2026-11-30 03", "2026-11-30 03:2", "2026-11-30 03:20:0", "2026-11-30 03:20:00.",
    "2026-11-30 03:20 Mars/Phobos", "2026-11-30 03:20 +1:2", "-", "+", "-x", "2h", "@",
    "@x", "@1x", "nowish", "today x", "ago", "mon 03:20", "1796000000", "2026-11-30 03:20 +99:00",
    "-99999999999999999999h", "--2h", "\u{1b}[2J",
])
func nonsenseIsRefused(text: String) {
    #expect(TimeReader(now: now, zone: .utc).read(text) == .unknown)
}

@Test func refusalsCarryAHint() {
    for text in ["2024-02-30", "soon"] {
        #expect {
            try TimeExpression.parse(text, flag: .since, now: now, zone: .utc)
        } throws: { error in
            guard let error = error as? CommandError else { return false }
            return error.status == 2 && error.hint != nil && error.message.contains(text)
        }
    }
}

@Test func aPrintedTimeCoversItsMicrosecond() throws {
    let time = try #require(read("2026-11-30 03:20:00.123456"))
    #expect(time.last - time.first == 999)
    let exact = try #require(read("2026-11-30T03:20:00.123456789Z"))
    #expect(exact.last == exact.first)
    let coarse = try #require(read("03:20:00"))
    #expect(coarse.last == coarse.first)
}

@Test func printedTimesAreReadBack() throws {
    for zone in [Zone.utc, .fixed(-9000), london, .local] {
        var printer = TimePrinter(zone: zone)
        let change: Int64 = 1_711_846_800_000_000_000
        for time in [now, 0, -1, change - 1, change, now + 123_456_789] {
            var out: [UInt8] = []
            printer.append(time, to: &out)
            let text = String(decoding: out, as: UTF8.self)
            let back = try #require(read(text, zone: zone), "\(text)")
            #expect(back.first <= time && time <= back.last, "\(text)")
        }
    }
}

@Test func clocksThatChange() {
    // Twice that day: the earlier instant, still in summer time.
    #expect(read("2024-10-27 01:30", zone: london)?.first == utc(2024, 10, 27, 0, 30))
    // Never that day: the instant of the change.
    #expect(read("2024-03-31 01:30", zone: london)?.first == utc(2024, 3, 31, 1, 0))
    #expect(read("2024-03-31 02:00", zone: london)?.first == utc(2024, 3, 31, 1, 0))
    #expect(read("2024-03-31 00:59:59", zone: london)?.first == utc(2024, 3, 31, 0, 59, 59))
    // The day after the change: yesterday has 23 or 25 hours.
    for (today, hours) in [(utc(2024, 4, 1, 12), 23), (utc(2024, 10, 28, 12), 25)] {
        let from = read("yesterday", zone: london, now: today ?? 0)?.first ?? 0
        let to = read("today", zone: london, now: today ?? 0)?.first ?? 0
        #expect(to - from == Int64(hours) * 3_600_000_000_000)
    }
    #expect(read("1970-01-01", zone: .fixed(32_400))?.first == -32_400_000_000_000)
}

@Test func todayIsThatOfTheZone() {
    #expect(read("today", zone: .fixed(-4 * 3600))?.first == utc(2026, 11, 29, 4))
    #expect(read("today UTC", zone: .fixed(-4 * 3600))?.first == utc(2026, 11, 30))
}

@Test func spansOfTime() {
    let second: Int64 = 1_000_000_000
    let table: [(String, Int64?)] = [
        ("90", 90 * second), ("10s", 10 * second), ("1h30m", 5400 * second), ("500ms", second / 2),
        ("1.5h", 5400 * second), ("2 days", 172_800 * second), ("1 w", 604_800 * second),
        ("0.000000001s", 1), ("", nil), ("s", nil), ("1x", nil), ("1 2", nil), ("1h2", nil),
        ("-1s", nil), ("1.", nil), ("300y", nil), ("999999999999999999h", nil),
    ]
    for (text, expected) in table { #expect(DurationText.parse(text) == expected, "\(text)") }
}
