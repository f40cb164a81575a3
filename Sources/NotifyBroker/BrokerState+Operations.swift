internal import Basics
internal import LinuxIO
internal import NotifyProtocol

extension BrokerState {
    /// Does one operation; what it answers beside the status is appended.
    mutating func perform(
        _ operation: Operation,
        _ connection: Connection,
        _ frame: UnsafeRawBufferPointer,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        switch operation {
        case .register(let wanted):
            return register(wanted, connection, &writer)
        case .goodbye:
            connection.saidGoodbye = true
            return .ok
        case .postName(let text):
            guard Frames.isValid(name: text) else { return .invalidName }
            // Nobody is registered: nothing is remembered, as on Darwin.
            guard let name = names[text] else { return .ok }
            guard mayWrite(name, connection) else { return .notAuthorized }
            post(name, by: connection, cause: .post)
            return .ok
        case .list(let prefix, let suffix, let after):
            list(prefix, suffix, after, &writer)
            return .ok
        case .unknown:
            return .invalidRequest
        case .cancel(let token), .suspend(let token), .resume(let token), .set(let token, _),
            .post(let token), .setAndPost(let token, _), .poolWrite(let token, _, _),
            .inspect(let token):
            guard let subscription = connection.registrations[token] else { return .invalidToken }
            return perform(operation, on: subscription, frame, &writer, now: now)
        }
    }

    private mutating func perform(
        _ operation: Operation,
        on subscription: Subscription,
        _ frame: UnsafeRawBufferPointer,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        let name = subscription.name
        let connection = subscription.connection
        switch operation {
        case .cancel: cancel(subscription, now: now)
        case .suspend: subscription.suspensions += 1
        case .resume: resume(subscription)
        case .inspect: info(name).append(to: &writer)
        case .set(_, let state):
            guard mayWrite(name, connection) else { return .notAuthorized }
            memory.setState(state, of: name.slot)
        case .post:
            guard mayWrite(name, connection) else { return .notAuthorized }
            post(name, by: connection, cause: .post)
        case .setAndPost(_, let state):
            guard mayWrite(name, connection) else { return .notAuthorized }
            memory.setState(state, of: name.slot)
            post(name, by: connection, cause: .post)
        case .poolWrite(_, let offset, let words):
            guard mayWrite(name, connection) else { return .notAuthorized }
            guard offset >= 0, words.count % 8 == 0, offset + words.count / 8 <= name.poolCount
            else {
                return .invalidRequest
            }
            memory.write(UnsafeRawBufferPointer(rebasing: frame[words]), at: name.poolBase + offset)
        default: return .invalidRequest
        }
        return .ok
    }

    private mutating func register(
        _ wanted: Registration,
        _ connection: Connection,
        _ writer: inout ByteWriter
    ) -> NotifyStatus {
        guard Frames.isValid(name: wanted.name) else { return .invalidName }
        guard connection.registrations[wanted.token] == nil else { return .invalidToken }
        guard (0...Frames.poolRegistersMax).contains(wanted.pool) else { return .invalidRequest }
        if wanted.claims || wanted.pool > 0, let name = names[wanted.name] {
            let isFree =
                name.claim.map { claim in
                    claim.connection == connection.number
                        || wanted.reclaims && claim.lingersUntil != nil
                            && claim.credentials == connection.credentials
                } ?? true
            guard isFree else { return .notAuthorized }
            guard [0, wanted.pool].contains(name.poolCount) || wanted.pool == 0 else {
                return .invalidRequest
            }
        }
        guard let name = find(wanted.name) else { return .failed }
        if wanted.pool > 0, name.poolCount > 0 {
            // Left by an earlier claimer and still read by others: the next one begins with zeros.
            memory.clear(pool: name.poolBase, count: name.poolCount)
        } else if wanted.pool > 0 {
            guard let base = memory.takePool(wanted.pool) else {
                freeIfUnused(name)
                return .failed
            }
            name.poolBase = base
            name.poolCount = wanted.pool
        }
        if wanted.claims {
            lingering.removeAll { $0 === name }
            name.claim = Claim(
                connection: connection.number,
                credentials: connection.credentials,
                will: wanted.will,
                linger: min(wanted.linger, Self.lingerSecondsMax)
            )
            name.cause = .post
            memory.setState(wanted.state, of: name.slot)
        }
        let subscription = Subscription(
            token: wanted.token,
            connection: connection,
            name: name,
            delivers: wanted.delivers
        )
        connection.registrations[wanted.token] = subscription
        name.add(subscription)
        info(name).append(to: &writer)
        return .ok
    }

    /// The longest that a claim may outlive its connection.
    static var lingerSecondsMax: UInt32 { 300 }

    private mutating func find(_ text: String) -> Name? {
        if let name = names[text] { return name }
        guard let slot = memory.takeSlot() else { return nil }
        let name = Name(text: text, slot: slot)
        names[text] = name
        figures.names += 1
        return name
    }

    private mutating func cancel(_ subscription: Subscription, now: UInt64) {
        let name = subscription.name
        let connection = subscription.connection
        connection.registrations[subscription.token] = nil
        subscription.pending = nil
        name.remove(subscription)
        // The last registration of a claimer takes the claim along, without a will: it let go.
        if name.claim?.connection == connection.number, name.claim?.lingersUntil == nil,
            !name.subscribers.contains(where: { $0.connection === connection })
        {
            name.claim = nil
        }
        freeIfUnused(name)
    }

    private mutating func resume(_ subscription: Subscription) {
        guard subscription.suspensions > 0 else { return }
        subscription.suspensions -= 1
        if subscription.suspensions == 0, subscription.pending != nil { enqueue(subscription) }
    }

    private func mayWrite(_ name: Name, _ connection: Connection) -> Bool {
        guard let claim = name.claim else { return true }
        return claim.connection == connection.number
    }

    func info(_ name: Name) -> NameInfo {
        var info = NameInfo()
        info.slot = name.slot
        info.poolBase = name.poolBase
        info.poolCount = name.poolCount
        info.cause = name.cause
        info.state = memory.state(of: name.slot)
        info.posts = memory.posts(of: name.slot)
        if let claim = name.claim {
            info.connection = claim.lingersUntil == nil ? claim.connection : 0
            info.pid = claim.credentials.pid
            info.uid = claim.credentials.uid
        }
        return info
    }

    /// Posts a name: counts, and leaves an event with everybody who is to be told.
    mutating func post(_ name: Name, by connection: Connection, cause: NotifyCause) {
        let number = memory.posts(of: name.slot) &+ 1
        memory.setPosts(number, of: name.slot)
        figures.posts += 1
        let state = memory.state(of: name.slot)
        for subscription in name.subscribers where subscription.delivers {
            var event = NotifyEvent(
                token: Int32(bitPattern: subscription.token),
                merged: 1,
                post: number,
                state: state,
                connection: connection.number,
                pid: connection.credentials.pid,
                uid: connection.credentials.uid,
                cause: cause
            )
            if let before = subscription.pending {
                figures.merged += 1
                event.merged = before.merged &+ 1
                if event.cause == .post { event.cause = before.cause }
                subscription.pending = event
            } else {
                subscription.pending = event
                if subscription.suspensions == 0 { enqueue(subscription) }
            }
        }
    }

    private mutating func enqueue(_ subscription: Subscription) {
        subscription.connection.waiting.append(subscription.token)
        dirty.insert(subscription.connection.number)
    }

    mutating func endClaim(
        of name: Name,
        by connection: Connection,
        cause: NotifyCause,
        now: UInt64
    ) {
        guard var claim = name.claim, claim.connection == connection.number,
            claim.lingersUntil == nil
        else { return }
        name.cause = cause
        if claim.linger > 0 {
            claim.lingersUntil = now + UInt64(claim.linger) * 1_000_000_000
            name.claim = claim
            lingering.append(name)
        } else {
            name.claim = nil
        }
        if let will = claim.will {
            memory.setState(will, of: name.slot)
            post(name, by: connection, cause: cause)
        }
    }

    mutating func freeIfUnused(_ name: Name) {
        guard name.subscribers.isEmpty, name.claim == nil, names[name.text] === name else { return }
        names[name.text] = nil
        figures.names -= 1
        if name.poolCount > 0 { memory.free(pool: name.poolBase, count: name.poolCount) }
        memory.free(slot: name.slot)
    }

    private func list(
        _ prefix: String,
        _ suffix: String,
        _ after: String,
        _ writer: inout ByteWriter
    ) {
        var found: [Name] = []
        for (text, name) in names
        where text > after && text.hasPrefix(prefix) && text.hasSuffix(suffix) {
            found.append(name)
        }
        found.sort { $0.text < $1.text }
        let head = writer.count
        writer.u32(0)
        writer.u32(0)
        var count: UInt32 = 0
        for name in found {
            // Room for the entry, whatever its name; the rest comes with the next page.
            if writer.count + 48 + 8 + Frames.nameBytesMax > Frames.bytesMax / 2 {
                writer.patch(u32: 1, at: head + 4)
                break
            }
            info(name).append(to: &writer)
            writer.u16(UInt16(name.text.utf8.count))
            writer.text(name.text)
            writer.pad(to: 8)
            count += 1
        }
        writer.patch(u32: count, at: head)
    }
}

extension BrokerState {
    /// The events that wait for a connection as one frame; nil if none does.
    ///
    /// They go on waiting (and merging) until `confirmEvents`.
    public func eventsFrame(for number: UInt64) -> (frame: [UInt8], count: Int)? {
        guard let connection = connections[number], !connection.waiting.isEmpty else { return nil }
        var writer = ByteWriter(capacity: 64)
        let countMax = (Frames.bytesMax / 4 - Frames.headerBytes) / Frames.eventBytes
        let tokens = connection.waiting.prefix(countMax)
        var count = 0
        Frames.Header(.events, count: 0, serial: 0).append(to: &writer)
        for token in tokens {
            guard let subscription = connection.registrations[token],
                subscription.suspensions == 0, let event = subscription.pending
            else { continue }
            event.append(to: &writer)
            count += 1
        }
        var header = ByteWriter()
        var head = Frames.Header(.events, count: count, serial: 0)
        head.length = UInt32(writer.count)
        head.append(to: &header)
        return (header.bytes + writer.bytes[Frames.headerBytes...], tokens.count)
    }

    /// The first `count` waiting tokens of the last frame were sent.
    public mutating func confirmEvents(for number: UInt64, count: Int) {
        guard let connection = connections[number] else { return }
        for token in connection.waiting.prefix(count) {
            if let subscription = connection.registrations[token], subscription.suspensions == 0 {
                subscription.pending = nil
            }
        }
        connection.waiting.removeFirst(min(count, connection.waiting.count))
        if connection.waiting.isEmpty { dirty.remove(number) }
    }
}
