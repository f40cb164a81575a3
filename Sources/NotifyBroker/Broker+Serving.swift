internal import LinuxIO
internal import NotifyProtocol

/// How a connection is served.
extension Broker {
    /// Serves a connection that is ready.
    mutating func serve(_ number: UInt64, _ readiness: Poller.Readiness, _ round: UInt64) {
        guard let client = sockets[number] else { return }
        if readiness.contains(.writable) { unblock(number, client) }
        if client.isInLine || !client.outgoing.isEmpty {
            // The kernel would tell of that end for as long as the socket is watched.
            if !readiness.isDisjoint(with: .closed) { deafen(number, client) }
            return
        }
        // The user's other connections have had a turn in this round already.
        if client.line.spent(in: round) >= Work.turn { return lineUp(number, client) }
        takeTurn(number, client, round)
        if !client.isInLine { pace.noteShortWork(at: clock.boot()) }
    }

    /// Serves one connection of those that have more to say than a turn allows.
    ///
    /// - Returns: true if that is long work.
    mutating func serveNext(_ round: UInt64) -> Bool {
        guard let number = turns.next(), let client = sockets[number] else { return false }
        client.isInLine = false
        if client.credit >= 0 { client.credit -= 1 }
        if client.outgoing.isEmpty { takeTurn(number, client, round) }
        if sockets[number] === client { watch(number, client) }
        return client.credit < 0
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
        if client.isDeaf { return }
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
        client.noteTurn(in: round)
        var served = 0
        while state.isUnfinished(number), client.outgoing.isEmpty {
            guard act(on: state.resume(number, now: clock.boot()), number, client) else { return }
            if served == 0 { flush() }
            served += 1
            guard state.workLeft > 0 else { return lineUp(number, client) }
        }
        if client.hasEnded, client.outgoing.isEmpty { return close(number, client) }
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
            // After a single one the kernel is asked, with all the others, whether there is more.
            let isAll = came < client.framesNext || client.framesNext == 1
            let each = max(1, (before - state.workLeft) / came)
            client.framesPerCall = max(1, min(Self.framesPerCall, Work.turn / each))
            if state.isUnfinished(number) { return lineUp(number, client) }
            // Whoever is gone is served to its end, as nobody would tell of it again.
            if isAll, !client.isDeaf { return }
            guard state.workLeft > 0 else { return lineUp(number, client) }
        }
    }

    /// Receives what has come; nil if nothing has, or the connection has ended.
    private mutating func receive(_ client: Client, _ number: UInt64) -> Int? {
        while true {
            do throws(SystemError) {
                return try batch.receive(from: client.socket, most: client.framesNext)
            } catch {
                if client.isDeaf {
                    close(number, client)
                    return nil
                }
                if error.wouldBlock { return nil }
                // It has gone without reading all (ECONNRESET, told once): what it had said before
                // is still there.
                deafen(number, client)
            }
        }
    }

    /// False if the connection has ended.
    private mutating func apply(_ index: Int, _ number: UInt64, _ client: Client, now: UInt64)
        -> Bool
    {
        if client.hasEnded { return true }
        // A packet that was cut is longer than any frame: its length cannot be right.
        let packet = batch.packet(index) ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let isEnd = batch.packet(index)?.isEmpty ?? false
        // What came before the end is done before it.
        client.hasEnded = isEnd && state.isUnfinished(number)
        if client.hasEnded { return true }
        let reply = isEnd ? .close("end") : state.receive(packet, from: number, now: now)
        return act(on: reply, number, client)
    }

    private mutating func act(on reply: BrokerState.Reply, _ number: UInt64, _ client: Client)
        -> Bool
    {
        switch reply {
        case .none: return true
        case .answer(let frame):
            send(BrokerState.Outgoing(frame: frame), number, client)
            return true
        case .frames(let frames):
            for frame in frames { send(frame, number, client) }
            return true
        case .close:
            close(number, client)
            return false
        }
    }

    /// Sends a frame, or keeps it until there is room.
    private mutating func send(
        _ outgoing: BrokerState.Outgoing,
        _ number: UInt64,
        _ client: Client
    ) {
        if client.isDeaf { return }
        guard client.outgoing.isEmpty else { return client.outgoing.append(outgoing) }
        do throws(SystemError) {
            let descriptors = outgoing.memory.map { [$0.descriptor] } ?? []
            try client.socket.send(outgoing.frame, descriptors: descriptors)
        } catch {
            guard error.wouldBlock else { return deafen(number, client) }
            client.outgoing.append(outgoing)
            block(number, client)
        }
    }

    /// Sends waiting events to whoever has room: at once to a few, to many when there is time.
    mutating func flush() {
        if !state.hasDirty { return }
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
        guard !client.isDeaf, let (frame, count) = state.eventsFrame(for: number) else { return 0 }
        do throws(SystemError) {
            try client.socket.send(frame)
        } catch {
            if error.wouldBlock { block(number, client) } else { deafen(number, client) }
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
        for frame in waiting { send(frame, number, client) }
        guard client.outgoing.isEmpty else { return }
        client.isBlocked = false
        watch(number, client)
        if state.isUnfinished(number) || client.hasEnded { lineUp(number, client) }
        _ = sendEvents(number, client)
    }

    /// Says nothing more to whoever hears nothing any more, and serves it, in line, to its end:
    /// what a program says just before it ends counts.
    private mutating func deafen(_ number: UInt64, _ client: Client) {
        guard !client.isDeaf else { return }
        client.isDeaf = true
        client.isBlocked = false
        client.outgoing = []
        poller.remove(client.socket.descriptor)
        lineUp(number, client)
    }

    private mutating func close(_ number: UInt64, _ client: Client) {
        poller.remove(client.socket.descriptor)
        sockets[number] = nil
        turns.leave(client.line, uid: client.uid)
        state.disconnect(number, now: clock.boot())
        if fullUntil != nil { listenAgain() }
    }
}
