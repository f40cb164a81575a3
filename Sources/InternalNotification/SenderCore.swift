internal import Basics
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization
internal import Telemetry

/// The sender: a queue that any thread fills without blocking, and the thread that empties it.
final class SenderCore: Sendable {
    let config: INAppConfig
    let channel: ChannelNames
    let clock: Clock
    let epoch: UInt64
    let state = Mutex(SenderState())
    private let wake: Wake?
    private let isRung = Atomic<Bool>(false)

    init(config: INAppConfig, channel: ChannelNames, clock: Clock) {
        self.config = config
        self.channel = channel
        self.clock = clock
        epoch = UInt64(clamping: clock.wall())
        wake = try? Wake()
    }

    /// Changes the shared state and lets the thread look at it.
    func update(_ body: (inout sending SenderState) -> Void) {
        state.withLock { body(&$0) }
        ring()
    }

    /// Wakes the thread, with one system call a round however often it is called.
    func ring() {
        if !isRung.exchange(true, ordering: .sequentiallyConsistent) { wake?.ring() }
    }

    func noteStored(_ stored: UInt64, connection: UInt64) {
        update { $0.note(stored: stored, connection: connection) }
        finishWaiters()
    }

    /// Gives a message its number and queues it.
    ///
    /// - Returns: the number.
    func enqueue(_ message: INMessage) throws(INError) -> UInt64 {
        do throws(INError) {
            if let fault = message.fault ?? config.fault { throw fault }
            try check(message)
        } catch {
            state.withLock { $0.refused += 1 }
            throw error
        }
        var stamped = message
        stamped.time = clock.wall()
        let boot = clock.boot()
        let sequence = state.withLock { state in
            stamped.sequence = state.outbox.next
            var json: [UInt8] = []
            json.reserveCapacity(stamped.payloadText.count + 128)
            MessageCodec.append(stamped, boot: boot, to: &json)
            state.append(json)
            return stamped.sequence
        }
        ring()
        return sequence
    }

    private func check(_ message: INMessage) throws(INError) {
        guard (1...Limits.nameBytesMax).contains(message.kind.utf8.count) else {
            throw .invalidKind(message.kind)
        }
        let size = message.payloadText.count
        guard size <= Limits.messageBytesMax else {
            throw .tooLarge(bytes: size, limit: Limits.messageBytesMax)
        }
        guard message.id?.utf8.count ?? 0 <= Limits.nameBytesMax else {
            throw .unencodable(key: "id", why: "longer than \(Limits.nameBytesMax) bytes")
        }
        // One payload that is no JSON would make its whole transfer unreadable.
        let fault = message.payloadText.withUnsafeBytes { bytes -> JSONFault? in
            do throws(JSONFault) {
                _ = try JSONScanner.validate(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw .unencodable(key: "payload", why: "\(fault)") }
        // Only what may not fit the ring is compressed here to find out.
        let room = Limits.ringBytes - 2048
        guard size > room else { return }
        let packed = (try? Packer())?.pack(message.payloadText).count ?? size
        if packed > room { throw .tooLarge(bytes: packed, limit: room) }
    }

    /// Calls `finish` once all of `sequences` are stored, or with the reason why one is not.
    func wait(
        for sequences: ClosedRange<UInt64>,
        timeout: UInt64,
        _ finish: @escaping @Sendable (INError?) -> Void
    ) {
        let deadline = clock.boot().addingReportingOverflow(timeout)
        let waiter = SenderState.Waiter(
            sequences: sequences,
            deadline: deadline.overflow ? .max : deadline.partialValue,
            finish: finish
        )
        update { $0.waiters.append(waiter) }
        finishWaiters()
    }

    func finishWaiters() {
        let now = clock.boot()
        let done = state.withLock { $0.answered(now: now) }
        for (waiter, reason) in done { waiter.finish(reason) }
    }

    /// The thread: finds the bus, then sends and pings until it is stopped.
    func run(_ attached: @escaping @Sendable (NotifyClient, UInt32) -> Void) {
        if config.fault == nil, var session = connect() {
            attached(session.client, session.fingerprint)
            while turn(&session, attached) {}
            session.tellRest(self)
            state.withLock { $0.wasAttached = $0.isAttached }
            session.client.close()
        }
        // Its handlers hold this core; it goes when the lock is open again.
        let client = state.withLock { state in
            state.isFinished = true
            defer { state.client = nil }
            return state.client
        }
        withExtendedLifetime(client) {}
        finishWaiters()
    }

    private func connect() -> SenderSession? {
        while !isTimeOver {
            if let client = try? NotifyClient(path: config.busPath, attachTimeout: 0) {
                client.onAttach { [self] _ in ring() }
                if let session = try? establish(client) { return session }
                client.close()
            }
            rest(250_000_000)
            finishWaiters()
        }
        return nil
    }

    private func establish(_ client: NotifyClient, attempts: Range<Int> = 1..<Limits.peersMax + 1)
        throws(NotifyStatus) -> SenderSession
    {
        var session = try SenderSession(
            client: client,
            channel: channel,
            identity: Identity(identifier: config.identifier, apikey: config.apikey),
            epoch: epoch,
            boot: clock.boot(),
            attempts: attempts
        )
        do throws(NotifyStatus) {
            session.collectorToken = try client.registerDirect(channel.collector) { [self] event in
                update { $0.noteCollector(event) }
            }
            try session.askForCollector(self)
        } catch {
            session.end()
            throw error
        }
        state.withLock { $0.client = client }
        return session
    }

    /// One round; false when it is time to end.
    private func turn(
        _ session: inout SenderSession,
        _ attached: (NotifyClient, UInt32) -> Void
    ) -> Bool {
        if !session.isWhole, reestablish(&session) {
            attached(session.client, session.fingerprint)
        }
        session.ping(clock: clock, jitter: .random(in: 0...Limits.pingInterval / 5))
        session.followCollector(self)
        // Behind a hole nobody would read it.
        let isWhole = session.isWhole
        var pause = isWhole ? session.send(self, now: clock.boot()) : Limits.unacknowledgedPause
        finishWaiters()
        if pause == 0 { return true }
        if isTimeOver || isDone(session) { return false }
        let untilPing = max(1, Int64(bitPattern: session.nextPing &- clock.boot()))
        pause = min(pause ?? .max, UInt64(untilPing))
        rest(min(pause ?? .max, nextDeadline()))
        return true
    }

    /// The ring anew; under other names, and then true, where these are somebody else's by now.
    private func reestablish(_ session: inout SenderSession) -> Bool {
        do throws(NotifyStatus) {
            try session.reestablish(self)
            return false
        } catch {
            // Where all are refused it is tried again with the next ping.
            let now = clock.boot()
            guard error == .notAuthorized, now >= session.nextTry else { return false }
            let attempts = session.nextAttempts(now: now)
            guard var other = try? establish(session.client, attempts: attempts) else {
                return false
            }
            other.follow(session)
            session.end()
            session = other
            return true
        }
    }

    /// Stopped, and no time is left or nothing to do.
    private var isTimeOver: Bool {
        let now = clock.boot()
        return state.withLock { state in
            state.isStopping && (now >= state.stopDeadline || state.outbox.isAllStored)
        }
    }

    /// Stopped, and everything is in the ring.
    private func isDone(_ session: SenderSession) -> Bool {
        let isSent = state.withLock { $0.isStopping && $0.isAttached && !$0.outbox.hasUnsent }
        return isSent && session.isWhole
    }

    private func nextDeadline() -> UInt64 {
        let now = clock.boot()
        return state.withLock { state in
            var next = state.waiters.map(\.deadline).min() ?? .max
            if state.isStopping { next = min(next, state.stopDeadline) }
            return next > now ? next - now : 1
        }
    }

    private func rest(_ nanoseconds: UInt64) {
        wake?.wait(nanoseconds: min(nanoseconds, Limits.pingInterval))
        // Cleared before the next look at the state, so that news after it ring again.
        isRung.store(false, ordering: .sequentiallyConsistent)
    }
}
