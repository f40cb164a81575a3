internal import CLinux
internal import Glibc

/// Signals as readable events (signalfd).
///
/// Make it on the main thread before any other thread starts.
public struct Signals: ~Copyable {
    /// A signal.
    public enum Signal: Sendable, Equatable {
        case interrupt, terminate, hangUp, child
        /// Any other, by its number.
        case other(Int32)

        var number: Int32 {
            switch self {
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .child: SIGCHLD
            case .other(let number): number
            }
        }
    }

    private let file: FileDescriptor
    private let wanted: [Signal]

    /// Blocks `wanted` in this thread and all that it starts, and listens for them instead.
    public init(_ wanted: [Signal]) throws(SystemError) {
        let raw = clinux_signalfd(wanted.map(\.number), Int32(wanted.count))
        guard raw >= 0 else { throw SystemError("signalfd") }
        file = FileDescriptor(owning: raw)
        self.wanted = wanted
    }

    /// Readable while a signal waits.
    public var descriptor: Int32 { file.raw }

    /// The next waiting signal; nil if none waits.
    public func next() -> Signal? {
        var info = signalfd_siginfo()
        guard read(file.raw, &info, MemoryLayout.size(ofValue: info)) > 0 else { return nil }
        return wanted.first { $0.number == Int32(info.ssi_signo) }
    }

    /// Sleeps until one of the signals comes.
    public func wait() -> Signal {
        while true {
            if let signal = next() { return signal }
            var entry = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
        }
    }
}
