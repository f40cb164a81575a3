internal import CLinux
internal import Glibc

/// A bell (eventfd): any thread rings it, one poller or waiter hears it.
///
/// Rings merge.
public final class Wake: Sendable {
    /// Readable while the bell was rung and not heard; for a `Poller`.
    public let descriptor: Int32

    /// A silent bell.
    public init() throws(SystemError) {
        descriptor = clinux_eventfd()
        guard descriptor >= 0 else { throw SystemError("eventfd") }
    }

    deinit {
        close(descriptor)
    }

    /// Rings; never blocks.
    public func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Hears all rings so far: true if there was one.
    @discardableResult
    public func hear() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, 8) == 8
    }

    /// Sleeps until the bell rings or `nanoseconds` have passed (nil: for ever), and hears it.
    @discardableResult
    public func wait(nanoseconds: UInt64? = nil) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var timeout: Int32 = -1
        // Rounded up, so that a deadline has passed when the wait for it ends.
        if let nanoseconds { timeout = Int32(clamping: (nanoseconds + 999_999) / 1_000_000) }
        _ = poll(&entry, 1, timeout)
        return hear()
    }
}

/// A timer (timerfd on CLOCK_BOOTTIME) for a `Poller`.
///
/// One thread owns it.
public struct DeadlineTimer: ~Copyable {
    private let file: FileDescriptor

    /// A timer that is not armed.
    public init() throws(SystemError) {
        let raw = clinux_timerfd()
        guard raw >= 0 else { throw SystemError("timerfd_create") }
        file = FileDescriptor(owning: raw)
    }

    /// Readable once the time has come, until `hear`.
    public var descriptor: Int32 { file.raw }

    /// Fires `nanoseconds` from now (at least 1), and then every `interval` (0: once).
    public func arm(after nanoseconds: UInt64, every interval: UInt64 = 0) {
        _ = clinux_timer_arm(file.raw, max(1, nanoseconds), interval)
    }

    /// Fires no more.
    public func disarm() {
        _ = clinux_timer_arm(file.raw, 0, 0)
    }

    /// True if it has fired since the last call.
    @discardableResult
    public func hear() -> Bool {
        var count: UInt64 = 0
        return read(file.raw, &count, 8) == 8
    }
}
