internal import Glibc

/// The two times that matter, as a value, so that tests can step them.
public struct Clock: Sendable {
    /// Nanoseconds since 1970, as the machine's wall clock says: it may step.
    public var wall: @Sendable () -> Int64
    /// Nanoseconds since boot, suspended time included (CLOCK_BOOTTIME): it never steps.
    public var boot: @Sendable () -> UInt64

    /// A clock of one's own.
    public init(wall: @escaping @Sendable () -> Int64, boot: @escaping @Sendable () -> UInt64) {
        self.wall = wall
        self.boot = boot
    }

    /// The machine's clocks.
    public static let system = Clock(
        wall: { now(CLOCK_REALTIME) },
        boot: { UInt64(now(CLOCK_BOOTTIME)) }
    )

    private static func now(_ clock: Int32) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
