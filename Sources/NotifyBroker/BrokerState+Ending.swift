internal import NotifyProtocol

/// A connection that has ended and still holds registrations.
struct Leaving {
    let connection: Connection
    /// Its registrations; the last ones go first.
    var left: [Subscription]
}

/// How connections end.
extension BrokerState {
    /// A connection has ended: its registrations go, its claims end or linger, its wills are done.
    ///
    /// Where there are turns, a step of that: `endSome` goes on.
    public mutating func disconnect(_ number: UInt64, now: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        remove(connection)
        figures.connections -= 1
        connection.user.connections -= 1
        for frame in connection.queued { unfinishedBytes -= frame.count }
        unfinishedBytes -= connection.unfinished?.bytes.count ?? 0
        connection.unfinished = nil
        connection.queued = []
        var left = Array(connection.registrations.values)
        // Wills are done in the order of the tokens, where it does not cost much.
        if left.count <= Work.sortedMax { left.sort { $0.token > $1.token } }
        leaving.append(Leaving(connection: connection, left: left))
        endSome(now: now)
    }

    /// True if a connection that has ended still holds registrations.
    public var isEnding: Bool { !leaving.isEmpty }

    /// Ends some registrations of connections that have ended.
    public mutating func endSome(now: UInt64) {
        guard var one = leaving.popLast() else { return }
        // A copy of these few: a slice would have all of the rest copied when they are removed.
        let gone = Array(one.left.suffix(step(of: one)))
        one.left.removeLast(gone.count)
        for subscription in gone.reversed() { drop(subscription) }
        for subscription in gone.reversed() {
            endClaim(of: subscription.name, by: one.connection, now: now)
        }
        for subscription in gone { freeIfUnused(subscription.name) }
        if one.left.isEmpty {
            forgetIfEmpty(one.connection.user, one.connection.identity.uid)
        } else {
            // Those that have come since do not wait for all of this one.
            leaving.insert(one, at: 0)
        }
    }

    /// How many registrations go in the next step: fewer where their wills have many subscribers.
    private func step(of one: Leaving) -> Int {
        if workLeft == .max { return one.left.count }
        var (count, cost) = (0, 0)
        for subscription in one.left.suffix(Work.endsAtOnce).reversed() where cost < Work.turn {
            count += 1
            guard let claim = subscription.name.claim, claim.will != nil,
                claim.connection == one.connection.number
            else { continue }
            cost += subscription.name.listeners.count / Work.subscribersPerUnit
        }
        return count
    }

    /// Lets everything go, without a word to anybody: names, registrations and connections hold
    /// each other, and would stay in memory after the broker.
    public mutating func end() {
        for connection in inOrder + leaving.map(\.connection) {
            while let first = connection.waiting.first { connection.waiting.remove(first) }
            connection.registrations = [:]
            connection.latest = nil
        }
        names.walk(from: "") { name in
            (name.listeners, name.others, name.claim) = ([], [], nil)
            return true
        }
        (connections, inOrder, leaving, dirty) = ([:], [], [], [])
    }

    private mutating func remove(_ connection: Connection) {
        let place = firstConnection(after: connection.number) - 1
        if place >= 0, inOrder[place] === connection { inOrder.remove(at: place) }
    }
}
