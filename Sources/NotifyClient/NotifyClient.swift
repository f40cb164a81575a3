internal import Basics
internal import Dispatch
internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

/// A process's end of the bus: notify(3) for Swift, and what this bus adds.
///
/// One thread of its own reads the socket, hands events out, and re-attaches when the broker comes
/// back: it registers every token again, says again what this process claims, and loses no edge. A
/// second one, started when first needed, serves what has nothing to do with the socket: `self.`
/// names, handlers that may call the client, full pipes, watched files.
///
/// Every method may be called from any thread. Calls that need an answer wait for it, 1 s at the
/// most; while the broker is away they throw `serverNotFound` at once, and so they do while an
/// answer is overdue. In a direct handler such calls throw `failed`: post and set with a quiet
/// batch there, or register with `registerHandler`.
///
/// A forked child has no part in its parent's client: its connection is closed there, tokens are
/// `invalidToken`, and all other calls throw `disabled`; it may make a client of its own.
public final class NotifyClient: Sendable {
    /// How long a call waits for its answer, ns.
    public static let answerTimeout = 1_000_000_000
    /// How long the thread waits for each answer of a broker that has come back, ns: thousands may
    /// be back at the same time, and whoever begins again has them wait longer.
    static let patience: UInt64 = 60_000_000_000
    /// How long a quiet batch waits for room in the socket, ms.
    static let roomTimeout: Int32 = 1000

    private let givenPath: String?
    let state = Mutex(ClientState())
    let table: TokenTable
    let view: MemoryViews
    /// Where everybody's view lies, so that reading touches no reference count.
    let viewAt: UInt
    /// Wakes the client's thread while it looks for the broker.
    let wake: Wake
    /// Wakes the second thread.
    let bell: Wake
    /// Held while a handler runs on the second thread.
    let handling = Mutex(())
    /// Held by who suspends or resumes, so that the broker hears of both in order.
    let suspending = Mutex(())
    let isDisabled = Atomic(false)
    let localThread = Mutex<OwnedThread?>(nil)
    let localThreadID = Atomic<Int32>(0)
    private let beginning = Mutex(Beginning())
    private let thread = Mutex<OwnedThread?>(nil)
    private let threadID = Atomic<Int32>(0)
    private let forks: UInt32
    private let forkCounter = UInt(bitPattern: Fork.counter)

    private struct Beginning {
        var isDone = false
        /// A broker that takes connections and does not greet is not asked again before, boot ns.
        var notBefore: UInt64 = 0
    }

    /// A client that attaches when a call first needs the broker, and tries again with each call
    /// until there is one.
    ///
    /// - Parameter path: the socket; nil: `INTEL_BUS`, else the service's, if a broker answers
    ///   there, else the user's own.
    /// - Throws: `failed` if the process has no memory or descriptors left.
    public init(attachingLaterTo path: String?) throws(NotifyStatus) {
        givenPath = path
        Fork.watch()
        forks = Fork.count
        do throws(SystemError) {
            table = try TokenTable()
            view = try MemoryViews()
            viewAt = UInt(bitPattern: view.common.bytes.baseAddress)
            wake = try Wake()
            bell = try Wake()
        } catch {
            throw .failed
        }
    }

    /// Attaches to the broker at `path`.
    ///
    /// - Parameters:
    ///   - path: its socket.
    ///   - attachTimeout: ns to wait for one to appear; 0 tries once.
    /// - Throws: `serverNotFound` if there is none by then.
    public convenience init(path: String, attachTimeout: UInt64 = 0) throws(NotifyStatus) {
        try self.init(attachingLaterTo: path)
        let deadline = Clock.system.boot() + attachTimeout
        while (try? currentLink()) == nil {
            guard Clock.system.boot() < deadline else { throw .serverNotFound }
            wake.wait(nanoseconds: 20_000_000)
        }
    }

    /// How often this client has attached: another number than before means another life of the
    /// bus, whose pools are empty.
    public var attachNumber: UInt64 { isOurs ? state.withLock { $0.attaches } : 0 }

    /// True if the broker, since it came back, has refused to register this token again: somebody
    /// else has claimed the name meanwhile.
    public func isRefused(_ token: NotifyToken) -> Bool {
        isOurs && state.withLock { $0.entries[token]?.isRefused ?? false }
    }

    /// False in a forked child of the process that made the client.
    @inline(__always)
    public var isOurs: Bool {
        SharedWords.load32(UnsafeRawPointer(bitPattern: forkCounter).unsafelyUnwrapped) == forks
    }

    /// True while the broker is there.
    public var isAttached: Bool { isOurs && state.withLock { $0.link != nil } }

    /// While false, calls on names of the bus throw `disabled`; registrations stay, and go on as
    /// they were when it is true again.
    public var isEnabled: Bool {
        get { !isDisabled.load(ordering: .relaxed) }
        set { isDisabled.store(!newValue, ordering: .relaxed) }
    }

    /// Operations of quiet batches that the broker has refused, and one-way posts that did not get
    /// to it.
    public var quietErrors: UInt64 { isOurs ? state.withLock { $0.quietErrors } : 0 }

    /// This client's connection number, as events of its own posts carry it.
    public var connection: UInt64 { isOurs ? state.withLock { $0.connection } : 0 }

    /// Calls `handler` on the client's thread after each re-attach, when all tokens are registered
    /// again.
    ///
    /// Pools are empty then: their owners write them anew.
    public func onAttach(_ handler: @escaping @Sendable (_ first: Bool) -> Void) {
        if isOurs { state.withLock { $0.attachHandlers.append(handler) } }
    }

    /// Says goodbye (claimed names are *left*), closes the connection and ends the threads.
    public func close() {
        guard isOurs else { return }
        let link = state.withLock { state in
            state.isClosed = true
            return state.link
        }
        if let link {
            var batch = NotifyBatch()
            batch.append(.goodbye)
            try? send(batch, serial: 0, isQuiet: true, link, wait: 0)
            link.socket.shutDown()
        }
        wake.ring()
        bell.ring()
        thread.withLock { $0 }?.join()
        localThread.withLock { $0 }?.join()
        state.withLock { state in
            state.entries = [:]
            // They hold whoever holds this client.
            state.attachHandlers = []
            state.pipes.closeAll()
        }
    }

    /// Where to look for the broker.
    var path: String { state.withLock { $0.path } ?? givenPath ?? BusPlace.find() }

    /// The link; a client that never had one tries to get it, others leave that to their thread.
    func currentLink() throws(NotifyStatus) -> Link {
        if let link = state.withLock({ $0.link }) { return link }
        let link = beginning.withLock { beginning -> Link? in
            if beginning.isDone { return state.withLock { $0.link } }
            let before = Clock.system.boot()
            guard before >= beginning.notBefore else { return nil }
            guard let link = attach(patience: UInt64(Self.answerTimeout)) else {
                let after = Clock.system.boot()
                if after - before > 500_000_000 { beginning.notBefore = after + 1_000_000_000 }
                return nil
            }
            beginning.isDone = start(link)
            return beginning.isDone ? link : nil
        }
        guard let link else { throw .serverNotFound }
        return link
    }

    private func start(_ link: Link) -> Bool {
        let started = Mailbox<Bool>(capacity: 1)
        let made = try? OwnedThread("notify") { [self] in
            Signals.blockAll()
            threadID.store(OwnedThread.currentID, ordering: .sequentiallyConsistent)
            _ = started.trySend(true)
            run(link)
        }
        guard let made else {
            state.withLock { $0.link = nil }
            return false
        }
        thread.withLock { $0 = made }
        _ = started.receive()
        return true
    }

    /// Throws `disabled` where this client may not speak to the broker.
    func mayAsk() throws(NotifyStatus) {
        guard isOurs, isEnabled else { throw .disabled }
    }

    /// Sends operations and waits for their results.
    func request(_ batch: NotifyBatch) throws(NotifyStatus) -> [UInt8] {
        guard threadID.load(ordering: .relaxed) != OwnedThread.currentID else { throw .failed }
        let link = try currentLink()
        let call = Call()
        let serial = state.withLock { state -> UInt32 in
            guard !state.isStalled, state.link != nil else { return 0 }
            let serial = state.newSerial()
            state.calls[serial] = call
            return serial
        }
        guard serial != 0 else { throw .serverNotFound }
        let deadline = DispatchTime.now() + .nanoseconds(Self.answerTimeout)
        defer { state.withLock { $0.calls[serial] = nil } }
        try send(batch, serial: serial, isQuiet: false, link, wait: Self.roomTimeout)
        guard call.done.wait(timeout: deadline) == .success else {
            // Unless the answer has come in this very moment: then nothing is overdue.
            state.withLock { state in
                if state.calls[serial] != nil { state.isStalled = state.link === link }
            }
            throw .serverNotFound
        }
        guard let answer = call.answer.withLock({ $0 }) else { throw .serverNotFound }
        return answer
    }

    /// Sends operations without waiting for their results.
    ///
    /// - Parameter wait: for room in the socket, ms.
    func send(_ batch: NotifyBatch, wait: Int32 = NotifyClient.roomTimeout) throws(NotifyStatus) {
        let link = try currentLink()
        try send(batch, serial: 0, isQuiet: true, link, wait: wait)
    }

    private func send(
        _ batch: NotifyBatch,
        serial: UInt32,
        isQuiet: Bool,
        _ link: Link,
        wait: Int32
    ) throws(NotifyStatus) {
        var frame = ByteWriter(capacity: batch.byteCount + Frames.headerBytes)
        Frames.Header(.request, count: batch.count, serial: serial, flags: isQuiet ? 1 : 0)
            .append(to: &frame)
        frame.raw(batch.writer.bytes)
        guard frame.count <= Frames.bytesMax, batch.count <= Frames.operationsMax else {
            throw .invalidRequest
        }
        Frames.seal(&frame)
        var deadline: UInt64?
        while true {
            do throws(SystemError) {
                return try link.socket.send(frame.bytes)
            } catch {
                // A broker that is behind gets a moment; one that hangs must not hang us.
                let now = Clock.system.boot()
                let end = deadline ?? now + UInt64(wait) * 1_000_000
                deadline = end
                guard error.wouldBlock, now < end, !state.withLock({ $0.isStalled }),
                    link.socket.waitWritable(milliseconds: Int32((end - now) / 1_000_000) + 1)
                else { throw .serverNotFound }
            }
        }
    }
}
