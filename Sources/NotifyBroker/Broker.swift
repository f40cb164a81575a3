internal import LinuxIO
internal import NotifyProtocol

/// The broker's loop: sockets outside, `BrokerState` inside.
///
/// One thread owns it.
struct Broker: ~Copyable {
    /// Frames that one connection may have served before the others get their turn.
    static let framesPerTurn = 64
    /// Time that one connection's frames may take before the others get their turn, ns.
    ///
    /// Frames differ by a factor of a thousand: a listing looks at every name, a post may go to a
    /// thousand. Whoever has used it up is served one frame a turn, as long as it takes so long.
    static let turnNanoseconds: UInt64 = 100_000
    /// How long the broker listens to nobody when no descriptor is left, unless one is freed, ns.
    static let pauseNanoseconds: UInt64 = 100_000_000
    /// Frames that one system call receives: so many answers, of 64 KiB at the most, may wait for a
    /// client that does not read.
    static let framesPerCall = 8
    private static let listenerTag: UInt64 = 0
    private static let controlTag = UInt64.max

    private let path: String
    private let isPathOurs: Bool
    private let listener: PacketSocket
    private var poller: Poller
    private var state: BrokerState
    private var sockets: [UInt64: Client] = [:]
    private var batch = PacketBatch(count: Broker.framesPerCall, bytes: Frames.bytesMax)
    private let clock = Clock.system
    /// Until when nobody is accepted, as no descriptor was left for the next connection.
    private var fullUntil: UInt64?

    /// A connection's socket and what could not be sent to it yet.
    private final class Client {
        let socket: PacketSocket
        /// Frames that wait for room; while they do, nothing more is read from this client.
        var outgoing: [BrokerState.Outgoing] = []
        var isBlocked = false
        /// Frames that one call receives: fewer from whoever has used up a turn's time.
        var framesPerCall = Broker.framesPerCall

        init(_ socket: consuming PacketSocket) {
            self.socket = socket
        }
    }

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
            try? poller.wait(timeout: timeout(nextTick)) { events.append($0) }
            for event in events {
                switch event.tag {
                case Self.listenerTag: accept()
                case Self.controlTag: isStopping = control.serve(&state, now: clock.boot())
                default: serve(event.tag, event.readiness)
                }
            }
            let now = clock.boot()
            nextTick = state.tick(now: now)
            if let end = fullUntil {
                if end <= now { listenAgain() } else { nextTick = min(nextTick ?? end, end) }
            }
            flush()
        }
        if isPathOurs { try? Files.remove(path) }
        let waits = state.figures.outOfDescriptors
        if waits > 0 {
            StandardError.line("intel bus: \(waits) times no descriptor was left to accept with")
        }
    }

    private func timeout(_ next: UInt64?) -> Int32 {
        guard let next else { return -1 }
        let now = clock.boot()
        return next <= now ? 0 : Int32(clamping: (next - now) / 1_000_000 + 1)
    }

    private mutating func accept() {
        // A few at a time; the rest waits in the backlog.
        for _ in 0..<Self.framesPerTurn {
            let accepted: PacketSocket
            do throws(SystemError) {
                guard let next = try listener.accept() else { return }
                accepted = next
            } catch {
                return pause(error)
            }
            add(accepted)
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

    private mutating func listenAgain() {
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
        let client = Client(accepted)
        guard (try? poller.add(client.socket.descriptor, tag: number)) != nil else {
            return state.disconnect(number, now: now)
        }
        sockets[number] = client
    }

    private mutating func serve(_ number: UInt64, _ readiness: Poller.Readiness) {
        guard let client = sockets[number] else { return }
        if readiness.contains(.writable) { unblock(number, client) }
        if !client.outgoing.isEmpty { return }
        var served = 0
        let start = clock.boot()
        while served < Self.framesPerTurn {
            let most = client.framesPerCall
            let came: Int
            do throws(SystemError) {
                came = try batch.receive(from: client.socket, most: most)
            } catch {
                if !error.wouldBlock { close(number, client) }
                return
            }
            let now = clock.boot()
            for index in 0..<came {
                guard apply(index, number, client, now: now) else { return }
                // The first frame's events leave at once: latency is made of system calls. Later
                // frames of a turn share one look, and their events merge.
                if served == 0 { flush() }
                served += 1
            }
            let isLong = clock.boot() - start > Self.turnNanoseconds
            client.framesPerCall = isLong ? 1 : Self.framesPerCall
            // What came is served, read or not; nothing more is taken from who does not read.
            if isLong || !client.outgoing.isEmpty || came < most { return }
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

    /// Sends waiting events to whoever has room.
    private mutating func flush() {
        for number in state.takeDirty() {
            guard let client = sockets[number], !client.isBlocked else { continue }
            sendEvents(number, client)
        }
    }

    private mutating func sendEvents(_ number: UInt64, _ client: Client) {
        while let (frame, count) = state.eventsFrame(for: number) {
            do throws(SystemError) {
                try client.socket.send(frame)
                state.confirmEvents(for: number, count: count)
            } catch {
                if error.wouldBlock { block(number, client) } else { close(number, client) }
                return
            }
        }
    }

    private mutating func block(_ number: UInt64, _ client: Client) {
        client.isBlocked = true
        let wanted: Poller.Readiness =
            client.outgoing.isEmpty ? [.readable, .writable] : .writable
        try? poller.modify(client.socket.descriptor, tag: number, for: wanted)
    }

    private mutating func unblock(_ number: UInt64, _ client: Client) {
        let waiting = client.outgoing
        client.outgoing = []
        for frame in waiting {
            guard send(frame, number, client) else { return }
        }
        guard client.outgoing.isEmpty else { return }
        client.isBlocked = false
        try? poller.modify(client.socket.descriptor, tag: number, for: .readable)
        sendEvents(number, client)
    }

    private mutating func close(_ number: UInt64, _ client: Client) {
        poller.remove(client.socket.descriptor)
        sockets[number] = nil
        state.disconnect(number, now: clock.boot())
        if fullUntil != nil { listenAgain() }
    }
}
