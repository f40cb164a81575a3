internal import Dispatch
internal import LinuxIO
internal import NotifyProtocol
internal import Synchronization

/// How a registration's events reach the program.
enum Delivery: Sendable {
    case none
    case direct(@Sendable (NotifyEvent) -> Void)
    case queue(DispatchQueue, @Sendable (NotifyEvent) -> Void)
    case pipe(write: Int32)

    var delivers: Bool {
        if case .none = self { false } else { true }
    }
}

/// One registration of this process, with all that is needed to make it again.
struct Entry: Sendable {
    var wanted: Registration
    var delivery: Delivery
    var info = NameInfo()
    var suspensions = 0
    /// The pipe was full: the token is written once it drains.
    var isPipePending = false
}

/// One socket to one broker.
final class Link: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }
}

/// A request that waits for its answer.
final class Call: Sendable {
    let done = DispatchSemaphore(value: 0)
    let answer = Mutex<[UInt8]?>(nil)
}

/// What the threads of a client share, behind one lock.
struct ClientState {
    var link: Link?
    var connection: UInt64 = 0
    var layout = MemoryLayoutOfBus.standard
    var attaches: UInt64 = 0
    var entries: [NotifyToken: Entry] = [:]
    var calls: [UInt32: Call] = [:]
    var nextSerial: UInt32 = 0
    var attachHandlers: [@Sendable (Bool) -> Void] = []
    var quietErrors: UInt64 = 0
    var isClosed = false
    private var freeTokens: [NotifyToken] = []
    private var nextIndex: NotifyToken = 1

    /// True while some pipe may have been full: only then is it worth looking for them.
    var hasBlockedPipe = false

    /// Pipes that wait to drain.
    var blockedPipes: [Int32] {
        mutating get {
            guard hasBlockedPipe else { return [] }
            let found = entries.values.filter(\.isPipePending).compactMap(\.pipe)
            hasBlockedPipe = !found.isEmpty
            return found
        }
    }

    /// A token that nobody has; nil if there are too many.
    mutating func newToken() -> NotifyToken? {
        // Reused only when many are free, so that a stale token rarely meets a new registration.
        if freeTokens.count > 1024 {
            let old = freeTokens.removeFirst()
            let generation = (old >> TokenTable.indexBits) + 1 & 0x7ff
            return generation << TokenTable.indexBits | NotifyToken(TokenTable.index(old))
        }
        guard nextIndex < NotifyToken(TokenTable.capacity) else { return nil }
        nextIndex += 1
        return nextIndex - 1
    }

    /// Forgets a token.
    ///
    /// - Returns: the pipe that it wrote to, if no other token writes to that.
    @discardableResult
    mutating func release(_ token: NotifyToken) -> Int32? {
        let pipe = entries.removeValue(forKey: token)?.pipe
        freeTokens.append(token)
        guard let pipe, !entries.values.contains(where: { $0.pipe == pipe }) else { return nil }
        return pipe
    }

    /// Forgets a registration.
    ///
    /// - Returns: its pipe's end, if no other registration writes to it.
    mutating func remove(_ token: NotifyToken) -> Int32? {
        guard let entry = entries[token] else { return nil }
        release(token)
        guard let pipe = entry.pipe else { return nil }
        for other in entries.values where other.pipe == pipe { return nil }
        return pipe
    }

    mutating func newSerial() -> UInt32 {
        nextSerial &+= 1
        return nextSerial
    }
}
