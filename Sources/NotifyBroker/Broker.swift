internal import LinuxIO
internal import NotifyProtocol

/// The broker's loop: sockets outside, `BrokerState` inside.
///
/// One thread owns it.
///
/// 1. In a round everybody who has something to say is served: a turn each, and a turn each user.
/// 2. Whoever has more than a turn's work goes on after the others, one turn a round.
/// 3. Nothing else in a round takes longer than a turn: one connection is accepted, a few events
///    that wait are sent, a step is done of what ended connections leave behind.
struct Broker: ~Copyable {
    /// How long the broker listens to nobody when no descriptor is left, unless one is freed, ns.
    static let pauseNanoseconds: UInt64 = 100_000_000
    /// Frames that one system call receives: so many answers, of 64 KiB at the most, may wait for a
    /// client that does not read.
    static let framesPerCall = 8
    /// Clients that are sent events in one go, and events that one go sends at the most.
    static let sendsAtOnce = 8
    static let eventsAtOnce = 512
    private static let listenerTag: UInt64 = 0
    private static let controlTag = UInt64.max

    private let path: String
    private let isPathOurs: Bool
    private let listener: PacketSocket
    var poller: Poller
    var state: BrokerState
    var sockets: [UInt64: Client] = [:]
    /// Who has more to say than a turn allows.
    var turns = TurnQueue()
    /// Who is to be sent events when there is time.
    var outbox = Outbox()
    var pace = Pace()
    private var round: UInt64 = 0
    /// Which kind of long work was done last.
    private var lastKind = 0
    var batch = PacketBatch(count: Broker.framesPerCall, bytes: Frames.bytesMax)
    let clock = Clock.system
    /// Until when nobody is accepted, as no descriptor was left for the next connection.
    var fullUntil: UInt64?

    /// A memory file that the kernel lets nobody but this process write.
    private final class File: BusMemory {
        let sealed: SealedMemory
        var bytes: UnsafeMutableRawBufferPointer { sealed.bytes }
        var descriptor: Int32 { sealed.file.raw }

        init(_ layout: MemoryLayoutOfBus) throws(SystemError) {
            sealed = try SealedMemory(name: "intel-bus", size: layout.bytes)
        }
    }

    /// Listens at the path of `options`; a socket file that nobody answers on is replaced.
    init(_ options: BrokerOptions) throws(SystemError) {
        let listening = try Self.open(options)
        let common = try File(.standard)
        let waiting = try Poller()
        try waiting.add(listening.descriptor, tag: Self.listenerTag)
        path = options.path
        isPathOurs = options.listener == nil
        state = BrokerState(
            layout: .standard,
            memory: common,
            rules: options.rules,
            owner: Environment.uid,
            quotas: options.quotas,
            now: clock.boot(),
            makeMemory: { try? File($0) }
        )
        listener = listening
        poller = waiting
    }

    private static func open(_ options: BrokerOptions) throws(SystemError) -> PacketSocket {
        if let raw = options.listener { return try PacketSocket.adopt(listener: raw) }
        return try listen(options.path)
    }

    private static func listen(_ path: String) throws(SystemError) -> PacketSocket {
        // The system's bus is for everybody; anybody else's is private by its folder.
        try Files.makeFolder(Files.parent(of: path), mode: Environment.uid == 0 ? 0o755 : 0o700)
        do throws(SystemError) {
            return try PacketSocket.listen(at: path, mode: 0o666)
        } catch {
            guard Files.exists(path) else { throw error }
            do throws(SystemError) {
                _ = try PacketSocket.connect(to: path)
            } catch let refused where refused.isNobodyThere {
                try Files.remove(path)
                return try PacketSocket.listen(at: path, mode: 0o666)
            }
            throw error
        }
    }

    /// Serves until it is told to stop.
    mutating func run(_ control: BrokerControl) {
        try? poller.add(control.descriptor, tag: Self.controlTag)
        var isStopping = false
        var nextTick: UInt64?
        var events: [Poller.Event] = []
        while !isStopping {
            events.removeAll(keepingCapacity: true)
            try? poller.wait(nanoseconds: timeout(nextTick)) { events.append($0) }
            round &+= 1
            for event in events {
                switch event.tag {
                case Self.listenerTag: accept()
                case Self.controlTag: isStopping = control.serve(&state, now: clock.boot())
                default: serve(event.tag, event.readiness, round)
                }
            }
            nextTick = tick()
        }
        if isPathOurs { try? Files.remove(path) }
        defer { state.end() }
        let waits = state.figures.outOfDescriptors
        if waits > 0 {
            StandardError.line("intel bus: \(waits) times no descriptor was left to accept with")
        }
    }

    /// What is to be done in every round, whoever has said something.
    ///
    /// - Returns: when there is something to do again.
    private mutating func tick() -> UInt64? {
        let now = clock.boot()
        state.beginTurn()
        _ = state.tick(now: now)
        if let end = fullUntil, end <= now { listenAgain() }
        flush()
        if let start = nextLongWork, now >= start { doLongWork(now: now) }
        // Looked at last: long work makes claims that end by themselves, too.
        guard let end = fullUntil else { return state.nextEnd }
        return min(state.nextEnd ?? end, end)
    }

    /// When there is work of more than a turn to be done; nil if there is none.
    private var nextLongWork: UInt64? {
        let others = turns.isEmpty && !state.isEnding ? nil : pace.nextLongWork
        guard !outbox.isEmpty else { return others }
        return min(pace.nextEvents, others ?? .max)
    }

    /// Does a turn's worth of one kind of long work that is due: they take turns as well.
    private mutating func doLongWork(now: UInt64) {
        for _ in 0..<3 {
            lastKind = (lastKind + 1) % 3
            switch lastKind {
            case 0 where !turns.isEmpty && now >= pace.nextLongWork:
                let isLong = serveNext(round)
                flush()
                if isLong { pace.noteLongWork(from: now, to: clock.boot()) }
                return
            case 1 where state.isEnding && now >= pace.nextLongWork:
                state.endSome(now: now)
                flush()
                return pace.noteLongWork(from: now, to: clock.boot())
            case 2 where !outbox.isEmpty && now >= pace.nextEvents:
                sendSome()
                flush()
                return pace.noteEvents(from: now, to: clock.boot())
            default: continue
            }
        }
    }

    /// How long to wait for somebody to say something, ns; -1 for ever.
    private func timeout(_ next: UInt64?) -> Int64 {
        guard let end = [nextLongWork, next].compactMap({ $0 }).min() else { return -1 }
        let now = clock.boot()
        return end <= now ? 0 : Int64(clamping: end - now)
    }

    /// Accepts one connection; the others wait in the backlog for the next rounds.
    private mutating func accept() {
        do throws(SystemError) {
            if let accepted = try listener.accept() { add(accepted) }
        } catch {
            pause(error)
        }
    }

    /// No descriptor is left: whoever connects waits in the backlog.
    ///
    /// Listening on would only turn in circles.
    private mutating func pause(_ error: SystemError) {
        if state.figures.outOfDescriptors == 0 {
            StandardError.line("intel bus: \(error), new connections wait")
        }
        state.noteOutOfDescriptors()
        fullUntil = clock.boot() + Self.pauseNanoseconds
        poller.remove(listener.descriptor)
    }

    mutating func listenAgain() {
        fullUntil = nil
        try? poller.add(listener.descriptor, tag: Self.listenerTag)
    }

    private mutating func add(_ accepted: consuming PacketSocket) {
        guard let credentials = try? accepted.peerCredentials() else { return }
        let identity = Identity(
            pid: credentials.pid,
            uid: credentials.uid,
            gid: credentials.gid,
            groups: credentials.uid == 0 ? [] : accepted.peerGroups(),
            startTime: Environment.startTime(pid: credentials.pid)
        )
        let now = clock.boot()
        guard let number = state.connect(identity, now: now) else { return }
        let client = Client(accepted, identity.uid, turns.join(uid: identity.uid))
        guard (try? poller.add(client.socket.descriptor, tag: number)) != nil else {
            turns.leave(client.line, uid: client.uid)
            return state.disconnect(number, now: now)
        }
        sockets[number] = client
    }
}
