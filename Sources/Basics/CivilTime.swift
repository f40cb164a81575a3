/// Calendar arithmetic in UTC (proleptic Gregorian), without Foundation.
///
/// Days to dates and back after Howard Hinnant's date algorithms (public domain).
public struct CivilTime: Equatable, Sendable {
    /// Year, 1 to 9999 in what we print; other years compute all the same.
    public var year: Int64
    /// 1 to 12.
    public var month: Int
    /// 1 to 31.
    public var day: Int
    /// 0 to 23.
    public var hour = 0
    /// 0 to 59.
    public var minute = 0
    /// 0 to 59; leap seconds do not exist in Unix time.
    public var second = 0
    /// 0 to 999,999,999.
    public var nanosecond = 0

    /// A point in the calendar; nothing is checked here (see `isValid`).
    public init(
        year: Int64,
        month: Int,
        day: Int,
        hour: Int = 0,
        minute: Int = 0,
        second: Int = 0,
        nanosecond: Int = 0
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
    }

    /// The UTC calendar time of `unix` nanoseconds since 1970.
    public init(unix: Int64) {
        let seconds = unix.flooredDivision(by: 1_000_000_000)
        let days = seconds.flooredDivision(by: 86_400)
        let rest = Int(seconds - days * 86_400)
        let shifted = days + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
        // Not by multiplying back: the first second that 64 bits hold begins below their range.
        let fraction = Int(unix % 1_000_000_000)
        nanosecond = fraction < 0 ? fraction + 1_000_000_000 : fraction
    }

    /// Days from 1970-01-01 to this date.
    public var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredDivision(by: 400)
        let yearOfEra = shifted - era * 400
        let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Nanoseconds since 1970, read as UTC; nil beyond 64 bits (before 1677, after 2262).
    public var unix: Int64? {
        let clock = Int64(hour * 3600 + minute * 60 + second)
        let (seconds, over) = daysSince1970.multipliedReportingOverflow(by: 86_400)
        let (total, above) = (seconds &+ clock).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = total.addingReportingOverflow(Int64(nanosecond))
        return over || above || beyond ? nil : sum
    }

    /// True if month, day (with leap years) and clock fields are in their ranges.
    public var isValid: Bool {
        guard (1...12).contains(month), (0...23).contains(hour), (0...59).contains(minute),
            (0...59).contains(second), (0...999_999_999).contains(nanosecond)
        else { return false }
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return day >= 1 && day <= lengths[month - 1] + (month == 2 && isLeap ? 1 : 0)
    }

    /// Appends `2026-11-30T03:20:00.123456789Z` (RFC 3339, always nine digits).
    public static func appendRFC3339(_ unix: Int64, to out: inout [UInt8]) {
        let time = CivilTime(unix: unix)
        time.appendDate(to: &out)
        out.append(UInt8(ascii: "T"))
        time.appendClock(digits: 9, to: &out)
        out.append(UInt8(ascii: "Z"))
    }

    /// Appends `2026-11-30`.
    public func appendDate(to out: inout [UInt8]) {
        out.appendDecimal(year, width: 4)
        out.append(UInt8(ascii: "-"))
        out.appendDecimal(Int64(month), width: 2)
        out.append(UInt8(ascii: "-"))
        out.appendDecimal(Int64(day), width: 2)
    }

    /// Appends `03:20:00.123456`, with `digits` (0 to 9) of the fraction, cut and not rounded.
    public func appendClock(digits: Int, to out: inout [UInt8]) {
        out.appendDecimal(Int64(hour), width: 2)
        out.append(UInt8(ascii: ":"))
        out.appendDecimal(Int64(minute), width: 2)
        out.append(UInt8(ascii: ":"))
        out.appendDecimal(Int64(second), width: 2)
        guard digits > 0 else { return }
        out.append(UInt8(ascii: "."))
        var fraction = nanosecond
        for _ in digits..<9 { fraction /= 10 }
        out.appendDecimal(Int64(fraction), width: digits)
    }
}

extension Int64 {
    /// Division that rounds towards minus infinity, so that times before 1970 come out right.
    public func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension [UInt8] {
    /// Appends an integer in decimal, filled up with zeros to at least `width` digits.
    public mutating func appendDecimal(_ value: Int64, width: Int = 1) {
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(value.magnitude, width: width)
    }

    /// Appends an unsigned integer in decimal, filled up with zeros to at least `width` digits.
    public mutating func appendDecimal(_ value: UInt64, width: Int = 1) {
        let start = count
        var rest = value
        repeat {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        while count - start < width { append(UInt8(ascii: "0")) }
        self[start...].reverse()
    }
}
