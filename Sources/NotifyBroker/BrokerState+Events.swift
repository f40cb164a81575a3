internal import Basics
internal import NotifyProtocol

/// How posts become events, and events frames.
extension BrokerState {
    /// Posts a name: counts, and leaves an event with everybody who is to be told.
    mutating func post(_ name: Name, by connection: Connection, cause: NotifyCause) {
        let number = name.memory.posts(of: name.slot) &+ 1
        name.memory.setPosts(number, of: name.slot)
        figures.posts += 1
        connection.report.posts += 1
        if name.listeners.isEmpty { return }
        spend(name.listeners.count / Work.subscribersPerUnit)
        var event = NotifyEvent(
            token: 0,
            merged: 1,
            post: number,
            state: name.memory.state(of: name.slot),
            stateNumber: name.stateNumber,
            connection: connection.number,
            pid: connection.identity.pid,
            uid: connection.identity.uid,
            cause: cause
        )
        for subscription in name.listeners {
            event.token = Int32(bitPattern: subscription.token)
            event.merged = 1
            event.cause = cause
            if let before = subscription.pending {
                figures.merged += 1
                name.merged += 1
                subscription.connection.report.merged += 1
                event.merged = before.merged &+ 1
                // That the claimer has gone is not hidden by whoever posts next.
                if cause == .post { event.cause = before.cause }
                subscription.hold(event)
            } else {
                subscription.hold(event)
                if subscription.suspensions == 0 { enqueue(subscription) }
            }
        }
    }

    private mutating func enqueue(_ subscription: Subscription) {
        let connection = subscription.connection
        connection.waiting.append(subscription)
        if connection.isDirty { return }
        connection.isDirty = true
        dirty.append(connection)
    }

    /// Holds events back; as often as can be counted.
    func suspend(_ subscription: Subscription) -> NotifyStatus {
        guard subscription.suspensions < .max else { return .overQuota }
        subscription.suspensions += 1
        // What waits goes on waiting, outside the list of what can be sent.
        subscription.connection.waiting.remove(subscription)
        return .ok
    }

    mutating func resume(_ subscription: Subscription) {
        guard subscription.suspensions > 0 else { return }
        subscription.suspensions -= 1
        if subscription.suspensions == 0, subscription.pending != nil { enqueue(subscription) }
    }

    /// True if connections have events waiting and were not taken since.
    public var hasDirty: Bool { !dirty.isEmpty }

    /// The connections that have events waiting and were not taken since.
    ///
    /// Whoever takes them sends until `eventsFrame` gives nothing.
    public mutating func takeDirty() -> [UInt64] {
        if dirty.isEmpty { return [] }
        let numbers = dirty.map(\.number)
        for connection in dirty { connection.isDirty = false }
        dirty.removeAll(keepingCapacity: true)
        return numbers
    }

    /// The events that wait for a connection as one frame; nil if none does.
    ///
    /// They go on waiting (and merging) until `confirmEvents`.
    public func eventsFrame(for number: UInt64) -> (frame: [UInt8], count: Int)? {
        guard let connection = connections[number], let first = connection.waiting.first else {
            return nil
        }
        let countMax = (Frames.bytesMax / 4 - Frames.headerBytes) / Frames.eventBytes
        let count = min(countMax, connection.waiting.count)
        var writer = ByteWriter(capacity: Frames.headerBytes + count * Frames.eventBytes)
        Frames.Header(.events, count: count, serial: 0).append(to: &writer)
        var next: Subscription? = first
        for _ in 0..<count {
            next?.pending?.append(to: &writer)
            next = next.flatMap { WaitingList.after($0) }
        }
        Frames.seal(&writer)
        return (writer.bytes, count)
    }

    /// True if events wait for a connection.
    public func hasEvents(for number: UInt64) -> Bool {
        connections[number]?.waiting.first != nil
    }

    /// The first `count` waiting events of the last frame were sent.
    public func confirmEvents(for number: UInt64, count: Int) {
        guard let connection = connections[number] else { return }
        for _ in 0..<count {
            guard let first = connection.waiting.first else { return }
            connection.waiting.remove(first)
            first.letGo()
            connection.report.delivered += 1
        }
    }
}
