internal import Basics
internal import Dispatch
internal import LinuxIO
internal import NotifyClient
internal import Synchronization
internal import Telemetry

/// The listening half of a center: a thread that starts when somebody wants to hear, reads the
/// siblings' rings, and hands what it finds to the callback queue.
///
/// A program that does not run that queue is not read for: beyond `Limits.deliveriesMax` calls that
/// wait in it, what siblings send stays in their rings until it is overwritten.
final class ChannelReceiver: Sendable {
    private struct State {
        var onReceive: [Int: @Sendable ([INMessage]) -> Void] = [:]
        var onPresence: [Int: @Sendable (PresenceChange) -> Void] = [:]
        var lastHandler = 0
        var client: NotifyClient?
        var own: UInt32 = 0
        var isStarted = false
        var isStopped = false
    }

    private let names: ChannelNames
    private let queue: DispatchQueue
    private let state = Mutex(State())
    private let thread = Mutex<OwnedThread?>(nil)
    private let wake: Wake?
    /// Calls that wait in the queue.
    private let deliveries = Atomic<Int>(0)
    private let overflowCount = Atomic<UInt64>(0)
    /// When this center began: peers that began later have no past that it could have missed.
    private let since = UInt64(clamping: Clock.system.wall())

    init(names: ChannelNames, queue: DispatchQueue) {
        self.names = names
        self.queue = queue
        wake = try? Wake()
    }

    /// Adds a handler; the number is for `remove`.
    @discardableResult
    func onReceive(_ handler: @escaping @Sendable ([INMessage]) -> Void) -> Int {
        defer { startIfWanted() }
        return state.withLock { state in
            state.lastHandler += 1
            state.onReceive[state.lastHandler] = handler
            return state.lastHandler
        }
    }

    /// Adds a handler; the number is for `remove`.
    @discardableResult
    func onPresence(_ handler: @escaping @Sendable (PresenceChange) -> Void) -> Int {
        defer { startIfWanted() }
        return state.withLock { state in
            state.lastHandler += 1
            state.onPresence[state.lastHandler] = handler
            return state.lastHandler
        }
    }

    /// Takes a handler away.
    func remove(_ handler: Int) {
        state.withLock { state in
            state.onReceive[handler] = nil
            state.onPresence[handler] = nil
        }
    }

    /// Messages that a sequence has lost, since its reader was too slow.
    var overflowed: UInt64 { overflowCount.load(ordering: .relaxed) }

    /// A sequence has lost messages.
    func noteOverflow() {
        overflowCount.add(1, ordering: .relaxed)
    }

    /// The sender has found the bus.
    func attach(_ client: NotifyClient, own: UInt32) {
        state.withLock { state in
            state.client = client
            state.own = own
        }
        startIfWanted()
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.client = nil
        }
        wake?.ring()
        thread.withLock { $0 }?.join()
    }

    private func startIfWanted() {
        let client: NotifyClient? = state.withLock { state in
            let isWanted = !state.onReceive.isEmpty || !state.onPresence.isEmpty
            guard isWanted, !state.isStarted, !state.isStopped, let client = state.client else {
                return nil
            }
            state.isStarted = true
            return client
        }
        guard let client, let wake else { return }
        let own = state.withLock { $0.own }
        let started = try? OwnedThread("in-receiver") { [self] in run(client, own: own, wake) }
        thread.withLock { $0 = started }
    }

    private func run(_ client: NotifyClient, own: UInt32, _ wake: Wake) {
        guard let reader = try? ChannelReader(client: client, names: names, own: own, wake: wake)
        else { return }
        while !state.withLock({ $0.isStopped }) {
            guard hasRoom else {
                // Whoever ends a delivery rings the bell.
                wake.wait(nanoseconds: ChannelReader.beatInterval)
                continue
            }
            reader.own = state.withLock { $0.own }
            for change in reader.update(now: Clock.system.boot()) { tell(change, reader) }
            var isDone = true
            for (fingerprint, link) in reader.links {
                read(link)
                guard hasRoom else { break }
                if link.hasMore { isDone = false }
                if reader.hasEnded(fingerprint), link.isReadToEnd { reader.forget(fingerprint) }
            }
            let next = isDone ? reader.nextUpdate : 0
            let after = Clock.system.boot()
            wake.wait(nanoseconds: next > after ? next - after : 1)
        }
        reader.close()
    }

    private func tell(_ change: PresenceChange, _ reader: ChannelReader) {
        // Who was there before us has a past in its ring: a sibling hears from now on.
        if change.kind == .appeared, change.instance.epoch < since,
            let link = reader.links[change.fingerprint]
        {
            link.skipHistory()
        }
        let handlers = state.withLock { state in
            state.onPresence.sorted { $0.key < $1.key }.map(\.value)
        }
        deliver { for handler in handlers { handler(change) } }
    }

    private var hasRoom: Bool { deliveries.load(ordering: .relaxed) < Limits.deliveriesMax }

    private func deliver(_ body: @escaping @Sendable () -> Void) {
        deliveries.add(1, ordering: .relaxed)
        queue.async { [self] in
            body()
            let before = deliveries.subtract(1, ordering: .relaxed).oldValue
            if before == Limits.deliveriesMax { wake?.ring() }
        }
    }

    private func read(_ link: PeerLink) {
        link.beginTurn()
        while hasRoom, link.hasNews, let found = link.next() {
            guard case .transfer(_, let json) = found else { continue }
            let messages = decode(json, from: link)
            if messages.isEmpty { continue }
            let handlers = state.withLock { state in
                state.onReceive.sorted { $0.key < $1.key }.map(\.value)
            }
            deliver { for handler in handlers { handler(messages) } }
        }
    }

    private func decode(_ json: [UInt8], from link: PeerLink) -> [INMessage] {
        var messages: [INMessage] = []
        json.withUnsafeBytes { bytes in
            try? MessageCodec.forEach(bytes) { element in
                guard case .message(let wire) = element else { return }
                var message = INMessage(
                    kind: wire.kind,
                    text: Array(bytes[wire.payload]),
                    level: wire.level,
                    id: wire.id
                )
                message.sequence = wire.sequence
                message.time = wire.time
                message.sender = link.instance
                messages.append(message)
            }
        }
        return messages
    }
}
