internal import Basics

/// Figures as people read them.
enum FigureText {
    /// `1,204`.
    static func grouped(_ number: UInt64) -> String {
        let digits = Array(String(number))
        var out = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { out += "," }
            out.append(digit)
        }
        return out
    }

    /// `96 KB`, `1.4 MB`: powers of 1024, one digit after the point below ten.
    static func bytes(_ number: UInt64) -> String {
        if number < 1024 { return "\(number) B" }
        var unit = 0
        var tenths = Double(number) / 1024 * 10
        while tenths >= 10_240, unit < 4 {
            tenths /= 1024
            unit += 1
        }
        let name = ["KB", "MB", "GB", "TB", "PB"][unit]
        if tenths >= 100 { return "\(UInt64(tenths / 10)) \(name)" }
        return "\(UInt64(tenths) / 10).\(UInt64(tenths) % 10) \(name)"
    }

    /// A time to the second, in `zone`; a dash for none.
    static func time(_ unix: Int64?, _ zone: Zone) -> String {
        guard let unix, unix != 0 else { return "-" }
        var text: [UInt8] = []
        var printer = TimePrinter(zone: zone)
        printer.appendSeconds(unix, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// A time as JSON output has it; nil for none.
    static func stamp(_ unix: Int64) -> String {
        var text: [UInt8] = []
        CivilTime.appendRFC3339(PrintableTime.clamped(unix), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// `17-20 (4)`, or `17` alone.
    static func range(_ range: ClosedRange<UInt64>) -> String {
        let count = (range.upperBound - range.lowerBound).addingReportingOverflow(1).partialValue
        if count == 1 { return "\(range.lowerBound)" }
        return "\(range.lowerBound)-\(range.upperBound) (\(grouped(count)))"
    }
}
