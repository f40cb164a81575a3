internal import Basics
internal import Glibc

/// A time zone: how far its clocks are ahead of UTC at each instant.
struct Zone: Sendable {
    /// Seconds east of UTC at this many seconds since 1970.
    let offset: @Sendable (Int64) -> Int64

    static let utc = Zone { _ in 0 }

    /// Always the same distance.
    static func fixed(_ seconds: Int64) -> Zone { Zone { _ in seconds } }

    /// The zone of this process: `TZ`, or what /etc/localtime says.
    static let local = Zone { seconds in
        var time = time_t(seconds)
        var fields = tm()
        guard localtime_r(&time, &fields) != nil else { return 0 }
        return Int64(fields.tm_gmtoff)
    }

    /// What the clocks of this zone show at `unix` nanoseconds.
    func civil(at unix: Int64) -> CivilTime {
        let seconds = unix.flooredDivision(by: DurationText.second)
        let shift = offset(seconds) * DurationText.second
        let (shifted, over) = unix.addingReportingOverflow(shift)
        return CivilTime(unix: over ? unix : shifted)
    }

    /// The instant, ns since 1970, at which this zone's clocks show `time`.
    ///
    /// Shown twice (clocks set back): the earlier one. Never shown (clocks set forward): the
    /// instant of the change, the next one that exists. Beyond 64 bits: as far as they reach.
    func instant(of time: CivilTime) -> Int64 {
        let clock = Int64(time.hour * 3600 + time.minute * 60 + time.second)
        let shown = time.daysSince1970 * 86_400 + clock
        let seconds = seconds(showing: shown)
        let (scaled, over) = seconds.multipliedReportingOverflow(by: DurationText.second)
        let (sum, above) = scaled.addingReportingOverflow(Int64(time.nanosecond))
        if over || above { return seconds < 0 ? .min : .max }
        return sum
    }

    private func seconds(showing shown: Int64) -> Int64 {
        let day: Int64 = 86_400
        let before = offset(shown - day)
        let after = offset(shown + day)
        // The larger offset gives the earlier instant.
        for candidate in [max(before, after), min(before, after)]
        where offset(shown - candidate) == candidate { return shown - candidate }
        var low = shown - day
        var high = shown + day
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == after { high = middle } else { low = middle }
        }
        return high
    }
}
