internal import CLinux
internal import Glibc

/// Waits for many descriptors at once (epoll, level-triggered).
///
/// One thread owns it.
public struct Poller: ~Copyable {
    /// What a descriptor is watched for, or has become.
    public struct Readiness: OptionSet, Sendable {
        /// The bits of epoll.
        public let rawValue: UInt32
        /// Any combination of epoll's bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Something to read, or the end.
        public static let readable = Readiness(rawValue: UInt32(CLINUX_EPOLLIN))
        /// Room to write.
        public static let writable = Readiness(rawValue: UInt32(CLINUX_EPOLLOUT))
        /// The other end is gone or the descriptor failed; always watched.
        public static let closed = Readiness(
            rawValue: UInt32(CLINUX_EPOLLERR) | UInt32(CLINUX_EPOLLHUP) | UInt32(CLINUX_EPOLLRDHUP)
        )
    }

    /// A descriptor that is ready, by the tag that it was added with.
    public struct Event: Sendable {
        /// The tag given to `add`.
        public var tag: UInt64
        /// What it is ready for.
        public var readiness: Readiness
    }

    private let descriptor: FileDescriptor
    private var tags = [UInt64](repeating: 0, count: 64)
    private var bits = [UInt32](repeating: 0, count: 64)

    /// A poller that watches nothing yet.
    public init() throws(SystemError) {
        let raw = clinux_epoll_create()
        guard raw >= 0 else { throw SystemError("epoll_create1") }
        descriptor = FileDescriptor(owning: raw)
    }

    /// Starts watching a descriptor, which must stay open until `remove`.
    public func add(_ raw: Int32, tag: UInt64, for wanted: Readiness = .readable)
        throws(SystemError)
    {
        guard clinux_epoll_set(descriptor.raw, raw, wanted.rawValue, tag, 1) == 0 else {
            throw SystemError("epoll_ctl add")
        }
    }

    /// Changes what a watched descriptor is watched for.
    public func modify(_ raw: Int32, tag: UInt64, for wanted: Readiness) throws(SystemError) {
        guard clinux_epoll_set(descriptor.raw, raw, wanted.rawValue, tag, 0) == 0 else {
            throw SystemError("epoll_ctl modify")
        }
    }

    /// Stops watching a descriptor; call it before closing.
    public func remove(_ raw: Int32) {
        _ = clinux_epoll_remove(descriptor.raw, raw)
    }

    /// Waits until something is ready, `timeout` milliseconds at the most (-1: for ever), and calls
    /// `body` for up to 64 ready descriptors.
    ///
    /// A signal ends the wait early with none.
    public mutating func wait(timeout: Int32, _ body: (Event) -> Void) throws(SystemError) {
        try wait(nanoseconds: timeout < 0 ? -1 : Int64(timeout) * 1_000_000, body)
    }

    /// The same, with a time in nanoseconds.
    public mutating func wait(nanoseconds: Int64, _ body: (Event) -> Void) throws(SystemError) {
        let count = clinux_epoll_wait(descriptor.raw, &tags, &bits, 64, nanoseconds)
        if count < 0 { throw SystemError("epoll_wait") }
        for index in 0..<Int(count) {
            body(Event(tag: tags[index], readiness: Readiness(rawValue: bits[index])))
        }
    }
}
