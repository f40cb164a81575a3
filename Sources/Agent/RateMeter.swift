/// How fast a counter grows: the mean over the last ten seconds, or since the start.
struct RateMeter {
    private static let second: UInt64 = 1_000_000_000
    /// One sample a second; the oldest is about ten seconds old.
    private var samples: [(at: UInt64, count: UInt64)] = []

    /// Notes the counter and gives its growth a second; `now` in ns, never going back.
    mutating func note(_ count: UInt64, now: UInt64) -> UInt64 {
        if let last = samples.last, now < last.at + Self.second {
            // Too soon for a sample, but what has happened since shows.
        } else {
            samples.append((now, count))
            if samples.count > 11 { samples.removeFirst() }
        }
        guard let first = samples.first, now > first.at else { return 0 }
        let elapsed = now - first.at
        return UInt64(Double(count &- first.count) * 1e9 / Double(elapsed))
    }
}
