internal import LinuxIO
internal import NotifyProtocol

/// How a connection is served.
extension Broker {
    /// Serves a connection that is ready.
    mutating func serve(_ number: UInt64, _ readiness: Poller.Readiness, _ round: UInt64) {
        guard let client = sockets[number] else { return }
        if readiness.contains(.writable) { unblock(number, client) }
        if client.isInLine || !client.outgoing.isEmpty { return }
        // The user's other connections have had a turn in this round already.
        if client.line.spent(in: round) >= Work.turn { return lineUp(number, client) }
        takeTurn(number, client, round)
        if !client.isInLine { pace.noteShortWork(at: clock.boot()) }
    }

    /// Serves one connection of those that have more to say than a turn allows.
    mutating func serveNext(_ round: UInt64) {
        guard let number = turns.next(), let client = sockets[number] else { return }
        client.isInLine = false
        if client.outgoing.isEmpty { takeTurn(number, client, round) }
        if sockets[number] === client { watch(number, client) }
    }

    private mutating func lineUp(_ number: UInt64, _ client: Client) {
        guard !client.isInLine else { return }
        client.isInLine = true
        turns.add(number, to: client.line)
        state.noteDeferred(number)
        watch(number, client)
    }

    /// Tells the kernel what to wake the broker for.
    ///
    /// Whoever waits for a turn, or has to read first, is not listened to: it would be ready all
    /// the time.
    private mutating func watch(_ number: UInt64, _ client: Client) {
        var wanted: Poller.Readiness = client.isBlocked ? .writable : []
        if !client.isInLine, client.outgoing.isEmpty { wanted.insert(.readable) }
        guard wanted != client.watched else { return }
        client.watched = wanted
        try? poller.modify(client.socket.descriptor, tag: number, for: wanted)
    }

    /// Does a turn's work for a connection; if there is more, it waits for its next turn.
    private mutating func takeTurn(_ number: UInt64, _ client: Client, _ round: UInt64) {
        state.beginTurn()
        defer { client.line.add(Work.turn - state.workLeft, in: round) }
        var served = 0
        while state.isUnfinished(number), client.outgoing.isEmpty {
            guard act(on: state.resume(number, now: clock.boot()), number, client) else { return }
            if served == 0 { flush() }
            served += 1
            guard state.workLeft > 0 else { return lineUp(number, client) }
        }
        while client.outgoing.isEmpty {
            let before = state.workLeft
            guard let came = receive(client, number) else { return }
            let now = clock.boot()
            for index in 0..<came {
                guard apply(index, number, client, now: now) else { return }
                // The first frame's events leave at once: latency is made of system calls. Later
                // frames of a turn share one look, and their events merge.
                if served == 0 { flush() }
                served += 1
            }
            let isAll = came < client.framesPerCall
            let each = max(1, (before - state.workLeft) / came)
            client.framesPerCall = max(1, min(Self.framesPerCall, Work.turn / each))
            if state.isUnfinished(number) { return lineUp(number, client) }
            if isAll { return }
            guard state.workLeft > 0 else { return lineUp(number, client) }
        }
    }

    /// Receives what has come; nil if nothing has, or the connection has failed.
    private mutating func receive(_ client: Client, _ number: UInt64) -> Int? {
        do throws(SystemError) {
            return try batch.receive(from: client.socket, most: client.framesPerCall)
        } catch {
            if !error.wouldBlock { close(number, client) }
            return nil
        }
    }

    /// False if the connection has ended.
    private mutating func apply(_ index: Int, _ number: UInt64, _ client: Client, now: UInt64)
        -> Bool
    {
        // A packet that was cut is longer than any frame: its length cannot be right.
        let packet = batch.packet(index) ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let isEnd = batch.packet(index)?.isEmpty ?? false
        let reply = isEnd ? .close("end") : state.receive(packet, from: number, now: now)
        return act(on: reply, number, client)
    }

    private mutating func act(on reply: BrokerState.Reply, _ number: UInt64, _ client: Client)
        -> Bool
    {
        switch reply {
        case .none: return true
        case .answer(let frame): return send(BrokerState.Outgoing(frame: frame), number, client)
        case .frames(let frames):
            for frame in frames {
                guard send(frame, number, client) else { return false }
            }
            return true
        case .close:
            close(number, client)
            return false
        }
    }

    /// Sends a frame, or keeps it until there is room; false if the connection has ended.
    private mutating func send(
        _ outgoing: BrokerState.Outgoing,
        _ number: UInt64,
        _ client: Client
    ) -> Bool {
        guard client.outgoing.isEmpty else {
            client.outgoing.append(outgoing)
            return true
        }
        do throws(SystemError) {
            let descriptors = outgoing.memory.map { [$0.descriptor] } ?? []
            try client.socket.send(outgoing.frame, descriptors: descriptors)
        } catch {
            guard error.wouldBlock else {
                close(number, client)
                return false
            }
            client.outgoing.append(outgoing)
            block(number, client)
        }
        return true
    }

    /// Sends waiting events to whoever has room: at once to a few, to many when there is time.
    mutating func flush() {
        let numbers = state.takeDirty()
        let isFew = numbers.count <= Self.sendsAtOnce
        for number in numbers {
            guard let client = sockets[number], !client.isBlocked else { continue }
            if isFew { _ = sendEvents(number, client) } else { putInOutbox(number, client) }
        }
    }

    /// Sends to some of those who wait for their events.
    mutating func sendSome() {
        var events = 0
        for _ in 0..<Self.sendsAtOnce where events < Self.eventsAtOnce {
            guard let number = outbox.next() else { return }
            guard let client = sockets[number] else { continue }
            client.isInOutbox = false
            if !client.isBlocked { events += sendEvents(number, client) }
        }
    }

    private mutating func putInOutbox(_ number: UInt64, _ client: Client) {
        guard !client.isInOutbox else { return }
        client.isInOutbox = true
        outbox.add(number)
    }

    /// Sends a frame of events; the rest goes when there is time.
    ///
    /// - Returns: how many were sent.
    private mutating func sendEvents(_ number: UInt64, _ client: Client) -> Int {
        guard let (frame, count) = state.eventsFrame(for: number) else { return 0 }
        do throws(SystemError) {
            try client.socket.send(frame)
        } catch {
            if error.wouldBlock { block(number, client) } else { close(number, client) }
            return 0
        }
        state.confirmEvents(for: number, count: count)
        if state.hasEvents(for: number) { putInOutbox(number, client) }
        return count
    }

    private mutating func block(_ number: UInt64, _ client: Client) {
        client.isBlocked = true
        watch(number, client)
    }

    private mutating func unblock(_ number: UInt64, _ client: Client) {
        let waiting = client.outgoing
        client.outgoing = []
        for frame in waiting {
            guard send(frame, number, client) else { return }
        }
        guard client.outgoing.isEmpty else { return }
        client.isBlocked = false
        watch(number, client)
        if state.isUnfinished(number) { lineUp(number, client) }
        _ = sendEvents(number, client)
    }

    private mutating func close(_ number: UInt64, _ client: Client) {
        poller.remove(client.socket.descriptor)
        sockets[number] = nil
        turns.leave(client.line, uid: client.uid)
        state.disconnect(number, now: clock.boot())
        if fullUntil != nil { listenAgain() }
    }
}
