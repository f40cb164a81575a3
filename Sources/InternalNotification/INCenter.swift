public import Dispatch
internal import LinuxIO
internal import NotifyClient
internal import Synchronization
internal import Telemetry

/// A program's place on a channel: it announces itself, sends, receives, and sees who is there.
///
/// `start` makes the process's shared center; more than one is possible with `init`. The bus need
/// not be there: the center keeps looking for it and queues meanwhile.
public final class INCenter: Sendable {
    private static let sharedCenter = Mutex<INCenter?>(nil)

    /// The center that `start` made; nil before and after.
    public static var shared: INCenter? { sharedCenter.withLock { $0 } }

    /// Sends and receives.
    public let messenger: Messenger

    private let core: SenderCore
    private let receiver: ChannelReceiver
    private let thread = Mutex<OwnedThread?>(nil)

    /// Announces the program on the channel `identifier` and makes the shared center.
    ///
    /// A second `start` replaces the first center, which is stopped.
    ///
    /// - Parameter callbackQueue: where the closures of `onReceive` and `onPresence` run.
    public static func start(
        identifier: String,
        config: INAppConfig,
        callbackQueue: DispatchQueue = .main
    ) {
        let center = INCenter(identifier: identifier, config: config, callbackQueue: callbackQueue)
        let before = sharedCenter.withLock { shared in
            defer { shared = center }
            return shared
        }
        before?.stop()
    }

    /// Lets the shared center go: see `stop()`.
    public static func stop() {
        let center = sharedCenter.withLock { shared in
            defer { shared = nil }
            return shared
        }
        center?.stop()
    }

    /// A center of one's own on the channel `identifier`.
    ///
    /// Where the process cannot start a thread or open a descriptor, the center stays silent and
    /// its messages wait in memory.
    public init(identifier: String, config: INAppConfig, callbackQueue: DispatchQueue = .main) {
        let names = ChannelNames(identifier)
        core = SenderCore(config: config, channel: names, clock: .system)
        receiver = ChannelReceiver(names: names, queue: callbackQueue)
        messenger = Messenger(core: core, receiver: receiver)
        let (core, receiver) = (core, receiver)
        let sender = try? OwnedThread("in-sender") {
            core.run { client, fingerprint in receiver.attach(client, own: fingerprint) }
            receiver.stop()
        }
        thread.withLock { $0 = sender }
    }

    /// Says goodbye: puts what is queued into the ring (2 s at the most), then lets every name go.
    ///
    /// What is in the ring can still be read for a while; `statistics.unsent` is what is not.
    public func stop() { stop(timeout: Limits.flushTimeout) }

    /// Says goodbye as `stop()` does.
    ///
    /// - Parameter timeout: ns for what is queued to go into the ring.
    public func stop(timeout: UInt64) {
        let wanted = core.clock.boot().addingReportingOverflow(timeout)
        let deadline = wanted.overflow ? .max : wanted.partialValue
        core.update { state in
            state.isStopping = true
            state.stopDeadline = deadline
        }
        let running = thread.withLock { held in
            defer { held = nil }
            return held
        }
        running?.join()
    }

    /// Calls `handler` when a sibling appears, reappears, leaves, dies or falls silent.
    public func onPresence(_ handler: @escaping @Sendable (PresenceChange) -> Void) {
        receiver.onPresence(handler)
    }

    /// Messages from siblings as a sequence, for those who prefer `for await`.
    ///
    /// A reader that is more than `Limits.streamBufferMax` messages behind loses the oldest, which
    /// `statistics.overflowed` counts.
    public var messages: AsyncStream<INMessage> {
        let receiver = receiver
        return Self.stream(receiver) { yield in
            receiver.onReceive { for message in $0 { yield(message) } }
        }
    }

    /// Changes of presence as a sequence; a slow reader loses the oldest, as with `messages`.
    public var presence: AsyncStream<PresenceChange> {
        let receiver = receiver
        return Self.stream(receiver) { yield in receiver.onPresence { yield($0) } }
    }

    private static func stream<Element: Sendable>(
        _ receiver: ChannelReceiver,
        _ start: (@escaping @Sendable (Element) -> Void) -> Int
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Limits.streamBufferMax)) { continuation in
            let handler = start { element in
                if case .dropped = continuation.yield(element) { receiver.noteOverflow() }
            }
            continuation.onTermination = { _ in receiver.remove(handler) }
        }
    }
}
