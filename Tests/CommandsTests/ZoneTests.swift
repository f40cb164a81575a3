import Basics
import LinuxIO
import Testing

@testable import Commands

private func utc(_ year: Int64, _ month: Int, _ day: Int, _ hour: Int = 0) -> Int64 {
    CivilTime(year: year, month: month, day: day, hour: hour).daysSince1970 * 86_400
        + Int64(hour) * 3600
}

@Test func rulesOfZoneFiles() throws {
    let london = try #require(PosixZone("GMT0BST,M3.5.0/1,M10.5.0"))
    #expect(london.offset(at: utc(2100, 3, 28, 0)) == 0)
    #expect(london.offset(at: utc(2100, 3, 28, 1)) == 3600)
    #expect(london.offset(at: utc(2100, 10, 31, 0)) == 3600)
    #expect(london.offset(at: utc(2100, 10, 31, 1)) == 0)
    let sydney = try #require(PosixZone("AEST-10AEDT,M10.1.0,M4.1.0/3"))
    #expect(sydney.offset(at: utc(2100, 1, 1)) == 39_600)
    #expect(sydney.offset(at: utc(2100, 7, 1)) == 36_000)
    let plain = try #require(PosixZone("<+0545>-5:45"))
    #expect(plain.offset(at: .max) == 20_700)
    let julian = try #require(PosixZone("XXX3YYY,J60/0,300/0"))
    // Day 60 is 1 March, in leap years too; both are 1 March 03:00 UTC.
    #expect(julian.offset(at: utc(2023, 3, 1, 2)) == -10_800)
    #expect(julian.offset(at: utc(2024, 3, 1, 2)) == -10_800)
    #expect(julian.offset(at: utc(2024, 3, 1, 3)) == -7200)
    for instant in [Int64.min, .max, 0] { _ = london.offset(at: instant) }
    for text in ["", "X", "GMT", "GMT0BST", "GMT0BST,M13.1.0,M1.1.0", "GMT0BST,M3.5.0", "<a"] {
        #expect(PosixZone(Substring(text)) == nil, "\(text)")
    }
}

@Test(.enabled(if: Files.exists("/usr/share/zoneinfo/Europe/London")))
func zonesOfTheDatabase() throws {
    let london = try #require(ZoneFile.zone(named: "Europe/London"))
    #expect(london.offset(utc(2024, 3, 31, 0)) == 0)
    #expect(london.offset(utc(2024, 3, 31, 1)) == 3600)
    #expect(london.offset(utc(2024, 10, 27, 1)) == 0)
    #expect(london.offset(utc(2090, 7, 1)) == 3600)
    // Odd history: British Standard Time, an hour ahead all the year.
    #expect(london.offset(utc(1970, 1, 1)) == 3600)
    let tokyo = try #require(ZoneFile.zone(named: "Asia/Tokyo"))
    let reader = TimeReader(now: utc(2026, 11, 30) * 1_000_000_000, zone: tokyo)
    let expected = TimeExpression(exactly: -32_400_000_000_000)
    #expect(reader.read("1970-01-01") == .time(expected))
    #expect(reader.read("1970-01-01 00:00 Asia/Tokyo") == .time(expected))
    #expect(
        reader.read("2024-10-27 01:30 Europe/London")
            == .time(TimeExpression(exactly: (utc(2024, 10, 27) + 1800) * 1_000_000_000))
    )
}

@Test func namesDoNotLeadOutOfTheDatabase() {
    for name in ["../../../etc/passwd", "/etc/passwd", "", ".", "a//b", "a\0b", "Europe", "é"] {
        #expect(ZoneFile.zone(named: name) == nil, "\(name)")
    }
}

@Test(.enabled(if: Files.exists("/usr/share/zoneinfo/Europe/London")))
func damagedZoneFilesAreRefusedOrHarmless() throws {
    let whole = try Files.contents("/usr/share/zoneinfo/Europe/London")
    for length in stride(from: 0, to: whole.count, by: 7) {
        _ = ZoneFile.zone(from: Array(whole[..<length]))?.offset(0)
    }
    var state: UInt64 = 42
    for _ in 0..<2000 {
        var bytes = whole
        for _ in 0..<4 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 25)
        }
        guard let zone = ZoneFile.zone(from: bytes) else { continue }
        for instant in [0, utc(2024, 7, 1), utc(2090, 7, 1), -utc(2090, 7, 1)] as [Int64] {
            _ = zone.civil(at: instant * 1_000_000_000)
            _ = zone.instant(of: CivilTime(unix: instant * 1_000_000_000))
        }
    }
}
