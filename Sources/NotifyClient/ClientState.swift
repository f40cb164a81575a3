internal import Dispatch
internal import LinuxIO
internal import NotifyProtocol
internal import Synchronization

/// How a registration's events reach the program.
enum Delivery: Sendable {
    typealias Handler = @Sendable (NotifyEvent) -> Void

    case none
    /// On the client's own thread.
    case direct(Handler)
    /// On the client's second thread, where every call may be made.
    case handler(Handler)
    case queue(DispatchQueue, Handler)
    /// The pipe whose end to read this is.
    case pipe(read: Int32)
    case signal(Int32)

    var delivers: Bool {
        if case .none = self { false } else { true }
    }

    /// True where events need the second thread.
    var isLocal: Bool {
        switch self {
        case .handler, .pipe: true
        default: false
        }
    }
}

/// One registration of this process, with all that is needed to make it again.
struct Entry: Sendable {
    var wanted: Registration
    var delivery: Delivery
    var info = NameInfo()
    /// A broker that came back would not register it again.
    var isRefused = false
    /// True for a `self.` name, of which the broker knows nothing.
    var isSelf = false
    /// Of a `self.` name: posts at the last check, nil before the first.
    var seen: UInt64?
    var suspensions = 0
    /// An event that waits for the second thread, or for the last `resume`.
    var waiting: NotifyEvent?
    /// The pipe was full: the token is written once it drains.
    var isPipePending = false

    var pipe: Int32? {
        if case .pipe(let read) = delivery { read } else { nil }
    }
}

/// One socket to one broker; a forked child does not keep it.
final class Link: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) {
        Fork.loseInChild(socket.descriptor)
        self.socket = socket
    }

    deinit {
        Fork.keepInChild(socket.descriptor)
    }
}

/// A request that waits for its answer.
final class Call: Sendable {
    let done = DispatchSemaphore(value: 0)
    let answer = Mutex<[UInt8]?>(nil)
}

/// What the threads of a client share, behind one lock.
struct ClientState {
    /// Where the broker was found; a client stays with it.
    var path: String?
    var link: Link?
    var connection: UInt64 = 0
    var layout = MemoryLayoutOfBus.standard
    var attaches: UInt64 = 0
    var entries: [NotifyToken: Entry] = [:]
    var names = SelfNames()
    var pipes = Pipes()
    var files: FileMonitor?
    /// Tokens whose waiting event is for the second thread.
    var queued: [NotifyToken] = []
    var calls: [UInt32: Call] = [:]
    var nextSerial: UInt32 = 0
    /// An answer is overdue: nobody waits for a broker that hangs a second time.
    var isStalled = false
    var attachHandlers: [@Sendable (Bool) -> Void] = []
    var quietErrors: UInt64 = 0
    var isClosed = false
    private var freeTokens: [NotifyToken] = []
    private var nextIndex: NotifyToken = 1

    /// A token that nobody has; nil if there are too many.
    mutating func newToken() -> NotifyToken? {
        // Reused only when many are free, so that a stale token rarely meets a new registration.
        if freeTokens.count > 1024 {
            return TokenTable.successor(of: freeTokens.removeFirst())
        }
        guard nextIndex < NotifyToken(TokenTable.capacity) else { return nil }
        nextIndex += 1
        return nextIndex - 1
    }

    /// Forgets a registration; a pipe that only it used is closed.
    mutating func remove(_ token: NotifyToken) {
        guard let entry = entries.removeValue(forKey: token) else { return }
        freeTokens.append(token)
        if entry.isSelf { names.cancel(entry.wanted.name, token) }
        if let pipe = entry.pipe { pipes.release(pipe, token) }
        files?.remove(token)
    }

    mutating func newSerial() -> UInt32 {
        // 0 is a quiet request, the highest one the client's own thread.
        nextSerial = nextSerial >= UInt32.max - 1 ? 1 : nextSerial + 1
        return nextSerial
    }

    /// Keeps an event, merged into the one that waits already, for the second thread.
    ///
    /// - Returns: true if that has to be woken.
    mutating func hold(_ event: NotifyEvent) -> Bool {
        guard let entry = entries[event.token] else { return false }
        var merged = event
        if let before = entry.waiting {
            merged.merged = before.merged &+ event.merged
        }
        entries[event.token]?.waiting = merged
        guard entry.waiting == nil, entry.suspensions == 0 else { return false }
        queued.append(event.token)
        return true
    }

    /// The events for the second thread, oldest first.
    mutating func takeQueued() -> [NotifyEvent] {
        let tokens = queued
        queued = []
        var events: [NotifyEvent] = []
        for token in tokens {
            guard let entry = entries[token], entry.suspensions == 0, let event = entry.waiting
            else { continue }
            entries[token]?.waiting = nil
            events.append(event)
        }
        return events
    }

    /// Undoes one suspension of what is held in this process.
    ///
    /// - Returns: true if the second thread has to be woken.
    mutating func release(_ token: NotifyToken) -> Bool {
        guard let entry = entries[token], entry.suspensions > 0 else { return false }
        entries[token]?.suspensions -= 1
        guard entry.suspensions == 1, entry.waiting != nil else { return false }
        queued.append(token)
        return true
    }

    /// Writes a token to its pipe.
    ///
    /// - Returns: true if the pipe is full, and the second thread has to be woken.
    mutating func write(_ token: NotifyToken, to pipe: Int32) -> Bool {
        guard entries[token]?.isPipePending == false else { return false }
        if pipes.write(token, to: pipe) { return false }
        entries[token]?.isPipePending = true
        return true
    }

    /// Writes the tokens that wait for room in a pipe.
    mutating func drain(_ pipe: Int32) {
        for token in pipes.drain(pipe) { entries[token]?.isPipePending = false }
    }

    /// Forgets the tokens that wait for room in a pipe that nobody reads any more.
    mutating func giveUp(_ pipe: Int32) {
        for token in pipes.giveUp(pipe) { entries[token]?.isPipePending = false }
    }
}
