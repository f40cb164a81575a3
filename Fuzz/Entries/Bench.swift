internal import Basics
internal import Glibc
package import NotifyBroker
package import NotifyProtocol

/// Memory of a broker under test: plain, since nobody maps it.
package final class PlainMemory: BusMemory {
    package let bytes: UnsafeMutableRawBufferPointer
    package let descriptor: Int32 = -1

    package init(_ layout: MemoryLayoutOfBus) {
        // Zeros that cost memory only where they are written: a file of pools is large.
        bytes = UnsafeMutableRawBufferPointer(
            start: calloc(layout.bytes, 1),
            count: layout.bytes
        )
    }

    deinit { free(bytes.baseAddress) }
}

/// One result of a request.
package struct Answered: Equatable {
    package var status: UInt32
    package var body: [UInt8]

    /// What it says of a name.
    package var info: NameInfo? {
        body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try? NameInfo(from: &reader)
        }
    }
}

/// A broker's state on memory of its own, and connections on it.
package final class Bench {
    package static let layout = MemoryLayoutOfBus(slots: 64, poolWords: 8192)
    package let memory: PlainMemory
    package var state: BrokerState
    /// Memory files that came along, by the connection that got them.
    package var given: [UInt64: [any BusMemory]] = [:]

    package init(
        layout: MemoryLayoutOfBus = Bench.layout,
        rules: AccessRules = AccessRules(),
        owner: UInt32 = 0,
        quotas: BrokerQuotas = .standard,
        now: UInt64 = 0
    ) {
        memory = PlainMemory(layout)
        state = BrokerState(
            layout: layout,
            memory: memory,
            rules: rules,
            owner: owner,
            quotas: quotas,
            now: now,
            makeMemory: { PlainMemory($0) }
        )
    }

    deinit { state.end() }

    package func connect(pid: Int32 = 1, uid: UInt32 = 0, gid: UInt32 = 0, groups: [UInt32] = [])
        -> UInt64
    {
        connect(Identity(pid: pid, uid: uid, gid: gid, groups: groups, startTime: 1)) ?? 0
    }

    package func connect(_ identity: Identity, now: UInt64 = 0) -> UInt64? {
        guard let number = state.connect(identity, now: now) else { return nil }
        var hello = ByteWriter()
        Frames.Header(.hello, count: 0, serial: 0).append(to: &hello)
        hello.u32(Frames.magic)
        hello.u32(Frames.version)
        Frames.seal(&hello)
        _ = hello.bytes.withUnsafeBytes { state.receive($0, from: number, now: now) }
        return number
    }

    /// Gives a frame to the broker, in turns of `work` units each.
    ///
    /// - Returns: all that is answered.
    package func receive(
        _ frame: [UInt8],
        from number: UInt64,
        now: UInt64 = 0,
        work: Int = .max
    ) -> BrokerState.Reply {
        defer { state.workLeft = .max }
        state.workLeft = work
        var reply = frame.withUnsafeBytes { state.receive($0, from: number, now: now) }
        while state.isUnfinished(number) {
            state.workLeft = work
            reply = state.resume(number, now: now)
        }
        return reply
    }

    /// Ends a connection, in steps.
    package func disconnect(_ number: UInt64, now: UInt64, work: Int = .max) {
        defer { state.workLeft = .max }
        state.workLeft = work
        state.disconnect(number, now: now)
        while state.isEnding { state.endSome(now: now) }
    }

    /// The statuses of one request.
    package func apply(
        _ operations: [Operation],
        from number: UInt64,
        now: UInt64 = 0,
        work: Int = .max
    ) -> [UInt32] {
        ask(operations, from: number, now: now, work: work).map(\.status)
    }

    /// The results of one request; none for a quiet one that was not refused.
    package func ask(
        _ operations: [Operation],
        from number: UInt64,
        now: UInt64 = 0,
        isQuiet: Bool = false,
        work: Int = .max
    ) -> [Answered] {
        let frame = Self.request(operations, isQuiet: isQuiet)
        let reply = receive(frame, from: number, now: now, work: work)
        if case .frames(let frames) = reply {
            given[number, default: []] += frames.compactMap(\.memory)
        }
        return Self.answered(reply)
    }

    /// The results in a reply; none where nothing was answered.
    package static func answered(_ reply: BrokerState.Reply) -> [Answered] {
        switch reply {
        case .answer(let frame): results(frame)
        case .frames(let frames): frames.last.map { results($0.frame) } ?? []
        default: []
        }
    }

    package static func request(_ operations: [Operation], isQuiet: Bool = false) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(.request, count: operations.count, serial: 1, flags: isQuiet ? 1 : 0)
            .append(to: &writer)
        for operation in operations { operation.append(to: &writer) }
        Frames.seal(&writer)
        return writer.bytes
    }

    private static func results(_ frame: [UInt8]) -> [Answered] {
        frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader) else { return [] }
            return (0..<header.count).compactMap { _ in
                guard let status = try? reader.u32(), let length = try? reader.u32(),
                    let body = try? reader.raw(Int(length) - 8)
                else { return nil }
                return Answered(status: status, body: Array(body))
            }
        }
    }

    /// Takes all events that wait for a connection.
    package func events(_ number: UInt64) -> [NotifyEvent] {
        _ = state.takeDirty()
        guard let (frame, count) = state.eventsFrame(for: number) else { return [] }
        state.confirmEvents(for: number, count: count)
        return frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            _ = try? Frames.Header(from: &reader)
            var found: [NotifyEvent] = []
            while let event = try? NotifyEvent(from: &reader) { found.append(event) }
            return found
        }
    }

    /// The names that a listing gives.
    package func names(
        _ number: UInt64,
        prefix: String = "",
        suffix: String = "",
        now: UInt64 = 0
    ) -> [String] {
        reports(number, prefix: prefix, suffix: suffix, now: now).map(\.info.name)
    }

    /// What a listing gives, page by page.
    package func reports(
        _ number: UInt64,
        prefix: String = "",
        suffix: String = "",
        now: UInt64 = 0
    ) -> [NameReport] {
        Listing.all(of: NameReport.init(listed:)) { last in
            let after = last?.info.name ?? ""
            let operation = Operation.who(prefix: prefix, suffix: suffix, after: after)
            return ask([operation], from: number, now: now).first?.body ?? []
        }
    }
}

/// Operations in few words.
extension Operation {
    package static func register(_ token: UInt32, _ name: String, delivers: Bool = true)
        -> Operation
    {
        .register(Registration(token: token, name: name, delivers: delivers))
    }

    package static func claim(
        _ token: UInt32,
        _ name: String,
        linger: UInt32 = 0,
        deadline: UInt32 = 0,
        will: UInt64? = 99,
        pool: Int = 0,
        reclaims: Bool = false
    ) -> Operation {
        var wanted = Registration(token: token, name: name)
        wanted.claims = true
        wanted.linger = linger
        wanted.deadline = deadline
        wanted.will = will
        wanted.pool = pool
        wanted.reclaims = reclaims
        return .register(wanted)
    }
}
