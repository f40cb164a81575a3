internal import Basics
public import LinuxIO
internal import NotifyProtocol

/// The broker's loop: sockets outside, `BrokerState` inside.
///
/// One thread owns it.
struct Broker: ~Copyable {
    /// Frames that one connection may have served before the others get their turn.
    static let framesPerTurn = 64
    private static let listenerTag: UInt64 = 0
    private static let stopTag = UInt64.max

    private let path: String
    private let listener: PacketSocket
    private let memory: SealedMemory
    private var poller: Poller
    private var state: BrokerState
    private var sockets: [UInt64: Client] = [:]
    private var buffer = [UInt8](repeating: 0, count: Frames.bytesMax)
    private let clock = Clock.system

    /// A connection's socket and what could not be sent to it yet.
    private final class Client {
        let socket: PacketSocket
        /// An answer that waits for room; while it does, nothing more is read from this client.
        var answer: [UInt8]?
        var isBlocked = false

        init(_ socket: consuming PacketSocket) {
            self.socket = socket
        }
    }

    /// Listens at `path`; a socket file that nobody answers on is replaced.
    init(path: String) throws(SystemError) {
        let listening = try Self.listen(path)
        let file = try SealedMemory(name: "intel-bus", size: MemoryLayoutOfBus.standard.bytes)
        let waiting = try Poller()
        try waiting.add(listening.descriptor, tag: Self.listenerTag)
        self.path = path
        state = BrokerState(layout: .standard, memory: file.bytes)
        listener = listening
        memory = file
        poller = waiting
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

    /// Serves until the bell rings.
    mutating func run(until stop: Wake) {
        try? poller.add(stop.descriptor, tag: Self.stopTag)
        var isStopping = false
        var nextTick: UInt64?
        while !isStopping {
            var events: [Poller.Event] = []
            try? poller.wait(timeout: timeout(nextTick)) { events.append($0) }
            for event in events {
                switch event.tag {
                case Self.listenerTag: accept()
                case Self.stopTag: isStopping = true
                default: serve(event.tag, event.readiness)
                }
            }
            nextTick = state.tick(now: clock.boot())
            flush()
        }
        try? Files.remove(path)
    }

    private func timeout(_ next: UInt64?) -> Int32 {
        guard let next else { return -1 }
        let now = clock.boot()
        return next <= now ? 0 : Int32(clamping: (next - now) / 1_000_000 + 1)
    }

    private mutating func accept() {
        // A few at a time; where descriptors run out the rest waits in the backlog.
        for _ in 0..<Self.framesPerTurn {
            guard let accepted = try? listener.accept(),
                let credentials = try? accepted.peerCredentials()
            else { return }
            let number = state.connect(credentials)
            let client = Client(accepted)
            guard (try? poller.add(client.socket.descriptor, tag: number)) != nil else {
                state.disconnect(number, now: clock.boot())
                return
            }
            sockets[number] = client
        }
    }

    private mutating func serve(_ number: UInt64, _ readiness: Poller.Readiness) {
        guard let client = sockets[number] else { return }
        if readiness.contains(.writable) { unblock(number, client) }
        if client.answer != nil { return }
        for turn in 0..<Self.framesPerTurn {
            // The first frame's events leave before the next look at the socket: latency is made
            // of system calls. Later frames of a turn share one look, and their events merge.
            if turn == 1 { flush() }
            let packet: PacketSocket.Packet
            do throws(SystemError) {
                packet = try receive(client)
            } catch {
                if !error.wouldBlock { close(number, client) }
                return
            }
            for descriptor in packet.descriptors { Descriptor.close(descriptor) }
            if packet.count == 0 { return close(number, client) }
            let now = clock.boot()
            // A packet that was cut is longer than any frame: its length cannot be right.
            let length = packet.isTruncated ? 0 : packet.count
            let reply = buffer.withUnsafeBytes {
                state.receive(
                    UnsafeRawBufferPointer(rebasing: $0[..<length]),
                    from: number,
                    now: now
                )
            }
            guard answer(reply, number, client) else { return }
        }
    }

    private mutating func receive(_ client: Client) throws(SystemError) -> PacketSocket.Packet {
        try client.socket.receive(into: &buffer)
    }

    /// False if nothing more is to be read from this client now.
    private mutating func answer(_ reply: BrokerState.Reply, _ number: UInt64, _ client: Client)
        -> Bool
    {
        switch reply {
        case .none: return true
        case .close:
            close(number, client)
            return false
        case .answer(let frame): return send(frame, [], number, client)
        case .welcome(let frame): return send(frame, [memory.file.raw], number, client)
        }
    }

    private mutating func send(
        _ frame: [UInt8],
        _ descriptors: [Int32],
        _ number: UInt64,
        _ client: Client
    ) -> Bool {
        do throws(SystemError) {
            try client.socket.send(frame, descriptors: descriptors)
            return true
        } catch {
            guard error.wouldBlock else {
                close(number, client)
                return false
            }
            client.answer = frame
            block(number, client)
            return false
        }
    }

    /// Sends waiting events to whoever has room.
    private mutating func flush() {
        for number in state.dirty {
            guard let client = sockets[number], !client.isBlocked else { continue }
            while let (frame, count) = state.eventsFrame(for: number) {
                do throws(SystemError) {
                    try client.socket.send(frame)
                    state.confirmEvents(for: number, count: count)
                } catch {
                    if error.wouldBlock { block(number, client) } else { close(number, client) }
                    break
                }
            }
        }
    }

    private mutating func block(_ number: UInt64, _ client: Client) {
        client.isBlocked = true
        let wanted: Poller.Readiness =
            client.answer == nil ? [.readable, .writable] : .writable
        try? poller.modify(client.socket.descriptor, tag: number, for: wanted)
    }

    private mutating func unblock(_ number: UInt64, _ client: Client) {
        if let answer = client.answer {
            client.answer = nil
            guard send(answer, [], number, client) else { return }
        }
        client.isBlocked = false
        try? poller.modify(client.socket.descriptor, tag: number, for: .readable)
    }

    private mutating func close(_ number: UInt64, _ client: Client) {
        poller.remove(client.socket.descriptor)
        sockets[number] = nil
        state.disconnect(number, now: clock.boot())
    }
}

/// A broker on a thread of its own.
public final class BrokerThread: Sendable {
    private let stopBell: Wake
    private let thread: OwnedThread

    /// Listens at `path` and serves.
    ///
    /// - Throws: where the socket cannot be made, or somebody else listens there already
    ///   (EADDRINUSE).
    public init(path: String) throws(SystemError) {
        let bell = try Wake()
        let opened = Mailbox<SystemError?>(capacity: 1)
        thread = try OwnedThread("bus") {
            do throws(SystemError) {
                var broker = try Broker(path: path)
                _ = opened.trySend(nil)
                broker.run(until: bell)
            } catch {
                _ = opened.trySend(error)
            }
        }
        stopBell = bell
        if let failure = opened.receive() ?? nil { throw failure }
    }

    /// Ends all connections and the thread.
    public func stop() {
        stopBell.ring()
        thread.join()
    }
}
