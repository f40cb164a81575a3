import Basics
import Testing

@Suite struct CivilTimeTests {
    private func text(_ unix: Int64) -> String {
        var out: [UInt8] = []
        CivilTime.appendRFC3339(unix, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
            (1_000_000_000_000_000_000, "2001-09-09T01:46:40.000000000Z"),
            (1_234_567_890_123_456_789, "2009-02-13T23:31:30.123456789Z"),
            (1_796_008_800_123_456_789, "2026-11-30T03:20:00.123456789Z"),
            (2_147_483_648_000_000_000, "2038-01-19T03:14:08.000000000Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
            (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000000000Z"),
            (.max, "2262-04-11T23:47:16.854775807Z"),
            (.min, "1677-09-21T00:12:43.145224192Z"),
        ] as [(Int64, String)]
    )
    func writesKnownTimes(unix: Int64, expected: String) {
        #expect(text(unix) == expected)
        #expect(CivilTime(unix: unix).isValid)
        if unix != .min { #expect(CivilTime(unix: unix).unix == unix) }
    }

    @Test(
        arguments: [
            (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017),
            (2100, 2, 28, 47_540), (2100, 3, 1, 47_541), (1, 1, 1, -719_162), (0, 3, 1, -719_468),
            (9999, 12, 31, 2_932_896),
        ] as [(Int64, Int, Int, Int64)]
    )
    func countsDays(year: Int64, month: Int, day: Int, days: Int64) {
        #expect(CivilTime(year: year, month: month, day: day).daysSince1970 == days)
    }

    /// Every day of 800 years in turn, so both kinds of century: the calendar never skips.
    @Test func everyDayFollowsTheDayBefore() {
        var days = CivilTime(year: 1678, month: 1, day: 1).daysSince1970
        let last = CivilTime(year: 2262, month: 1, day: 1).daysSince1970
        var before = CivilTime(unix: days * 86_400_000_000_000)
        while days < last {
            days += 1
            let date = CivilTime(unix: days * 86_400_000_000_000)
            let isNextDay = date.month == before.month && date.day == before.day + 1
            let isNextMonth = date.day == 1 && date.month == before.month + 1 && before.day >= 28
            let isNextYear = date.day == 1 && date.month == 1 && date.year == before.year + 1
            guard date.isValid, date.daysSince1970 == days, isNextDay || isNextMonth || isNextYear
            else {
                Issue.record("after \(before) comes \(date)")
                return
            }
            before = date
        }
    }

    @Test func knowsLeapYears() {
        let isLeap = { CivilTime(year: $0, month: 2, day: 29).isValid }
        #expect(isLeap(2000) && isLeap(2024) && isLeap(2400))
        #expect(!isLeap(1900) && !isLeap(2100) && !isLeap(2026))
    }

    @Test func refusesImpossibleTimes() {
        let good = CivilTime(year: 2026, month: 11, day: 30, hour: 23, minute: 59, second: 59)
        #expect(good.isValid)
        for spoil in [
            { $0.month = 0 }, { $0.month = 13 }, { $0.day = 0 }, { $0.day = 31 }, { $0.hour = 24 },
            { $0.hour = -1 }, { $0.minute = 60 }, { $0.second = 60 }, { $0.nanosecond = -1 },
            { $0.nanosecond = 1_000_000_000 },
        ] as [(inout CivilTime) -> Void] {
            var bad = good
            spoil(&bad)
            #expect(!bad.isValid, "\(bad)")
        }
    }

    @Test func saysWhereSixtyFourBitsEnd() {
        #expect(CivilTime(year: 2262, month: 4, day: 12).unix == nil)
        #expect(CivilTime(year: 1677, month: 9, day: 20).unix == nil)
        #expect(CivilTime(year: 9999, month: 12, day: 31).unix == nil)
    }

    @Test(arguments: [(0, "03:02:01"), (3, "03:02:01.123"), (6, "03:02:01.123456")])
    func cutsTheFraction(digits: Int, expected: String) {
        var time = CivilTime(year: 2026, month: 1, day: 1, hour: 3, minute: 2, second: 1)
        time.nanosecond = 123_456_999
        var out: [UInt8] = []
        time.appendClock(digits: digits, to: &out)
        #expect(String(decoding: out, as: UTF8.self) == expected)
    }

    @Test func dividesDownwards() {
        #expect((-1 as Int64).flooredDivision(by: 10) == -1)
        #expect((-10 as Int64).flooredDivision(by: 10) == -1)
        #expect((-11 as Int64).flooredDivision(by: 10) == -2)
        #expect((19 as Int64).flooredDivision(by: 10) == 1)
    }

    @Test func writesDecimals() {
        var out: [UInt8] = []
        for value in [0, -7, 42, .min, .max] as [Int64] {
            out.appendDecimal(value, width: 3)
            out.append(0x20)
        }
        let text = String(decoding: out, as: UTF8.self)
        #expect(text == "000 -007 042 -9223372036854775808 9223372036854775807 ")
    }
}
