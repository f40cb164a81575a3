internal import Basics

/// Prints times as `2026-11-30 03:20:00.123456`.
///
/// Neighbours in the output mostly share their second, so its text is kept.
struct TimePrinter {
    private let zone: Zone
    private var second = Int64.min
    private var text: [UInt8] = []

    init(zone: Zone) {
        self.zone = zone
    }

    /// Appends date, clock and six digits of the fraction, cut and not rounded.
    mutating func append(_ unix: Int64, to out: inout [UInt8]) {
        let unix = PrintableTime.clamped(unix)
        appendSeconds(unix, to: &out)
        out.append(UInt8(ascii: "."))
        let fraction = unix - second * DurationText.second
        out.appendDecimal(fraction / 1000, width: 6)
    }

    /// Appends date and clock.
    mutating func appendSeconds(_ unix: Int64, to out: inout [UInt8]) {
        let unix = PrintableTime.clamped(unix)
        let wanted = unix.flooredDivision(by: DurationText.second)
        if wanted != second || text.isEmpty {
            second = wanted
            text.removeAll(keepingCapacity: true)
            let time = zone.civil(at: unix)
            time.appendDate(to: &text)
            text.append(0x20)
            time.appendClock(digits: 0, to: &text)
        }
        out.append(contentsOf: text)
    }
}
