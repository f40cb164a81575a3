internal import Basics
internal import Dispatch
internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

/// A process's end of the bus: notify(3) for Swift, and what this bus adds.
///
/// One thread of its own reads the socket, hands events out, and re-attaches when the broker comes
/// back: it registers every token again, says again what this process claims, and loses no edge.
/// Every method may be called from any thread. Calls that need an answer wait for it, 1 s at the
/// most; while the broker is away they throw `serverNotFound` at once. On the client's own thread
/// (in a direct handler) such calls throw `failed`: post and set with a quiet batch there.
public final class NotifyClient: Sendable {
    /// How long a call waits for its answer, ns.
    public static let answerTimeout = 1_000_000_000

    let path: String
    let state = Mutex(ClientState())
    let table: TokenTable
    let view: MemoryViews
    let wake: Wake
    private let thread = Mutex<OwnedThread?>(nil)
    private let threadID = Atomic<Int32>(0)

    /// Attaches to the broker at `path`.
    ///
    /// - Parameter attachTimeout: ns to wait for one to appear; 0 tries once.
    /// - Throws: `serverNotFound` if there is none by then.
    public init(path: String, attachTimeout: UInt64 = 0) throws(NotifyStatus) {
        self.path = path
        do throws(SystemError) {
            table = try TokenTable()
            view = try MemoryViews()
            wake = try Wake()
        } catch {
            throw .failed
        }
        let deadline = Clock.system.boot() + attachTimeout
        while true {
            if let link = attach() {
                try start(link)
                return
            }
            guard Clock.system.boot() < deadline else { throw .serverNotFound }
            wake.wait(nanoseconds: 20_000_000)
        }
    }

    /// True while the broker is there.
    public var isAttached: Bool { state.withLock { $0.link != nil } }

    /// Operations of quiet batches that the broker has refused.
    public var quietErrors: UInt64 { state.withLock { $0.quietErrors } }

    /// This client's connection number, as events of its own posts carry it.
    public var connection: UInt64 { state.withLock { $0.connection } }

    /// Calls `handler` on the client's thread after each re-attach, when all tokens are registered
    /// again.
    ///
    /// Pools are empty then: their owners write them anew.
    public func onAttach(_ handler: @escaping @Sendable (_ first: Bool) -> Void) {
        state.withLock { $0.attachHandlers.append(handler) }
    }

    /// Says goodbye (claimed names are *left*), closes the connection and ends the thread.
    public func close() {
        let link = state.withLock { state in
            state.isClosed = true
            return state.link
        }
        if let link {
            var batch = NotifyBatch()
            batch.append(.goodbye)
            try? send(batch, serial: 0, isQuiet: true, link)
            link.socket.shutDown()
        }
        wake.ring()
        thread.withLock { $0 }?.join()
        let pipes = state.withLock { state in
            defer { state.entries = [:] }
            return Set(state.entries.values.compactMap(\.pipe))
        }
        for pipe in pipes { Descriptor.close(pipe) }
    }

    private func start(_ link: Link) throws(NotifyStatus) {
        let started = Mailbox<Bool>(capacity: 1)
        do throws(SystemError) {
            let made = try OwnedThread("notify") { [self] in
                threadID.store(OwnedThread.currentID, ordering: .sequentiallyConsistent)
                _ = started.trySend(true)
                run(link)
            }
            thread.withLock { $0 = made }
            _ = started.receive()
        } catch {
            throw .failed
        }
    }

    /// Sends operations and waits for their results.
    func request(_ batch: NotifyBatch) throws(NotifyStatus) -> [UInt8] {
        guard threadID.load(ordering: .relaxed) != OwnedThread.currentID else { throw .failed }
        let call = Call()
        let (link, serial) = state.withLock { state -> (Link?, UInt32) in
            let serial = state.newSerial()
            if state.link != nil { state.calls[serial] = call }
            return (state.link, serial)
        }
        guard let link else { throw .serverNotFound }
        defer { state.withLock { $0.calls[serial] = nil } }
        try send(batch, serial: serial, isQuiet: false, link)
        guard call.done.wait(timeout: .now() + .nanoseconds(Self.answerTimeout)) == .success,
            let answer = call.answer.withLock({ $0 })
        else { throw .serverNotFound }
        return answer
    }

    /// Sends operations without waiting for their results.
    func send(_ batch: NotifyBatch) throws(NotifyStatus) {
        guard let link = state.withLock({ $0.link }) else { throw .serverNotFound }
        try send(batch, serial: 0, isQuiet: true, link)
    }

    private func send(_ batch: NotifyBatch, serial: UInt32, isQuiet: Bool, _ link: Link)
        throws(NotifyStatus)
    {
        var frame = ByteWriter(capacity: batch.byteCount + Frames.headerBytes)
        Frames.Header(.request, count: batch.count, serial: serial, flags: isQuiet ? 1 : 0)
            .append(to: &frame)
        frame.raw(batch.writer.bytes)
        guard frame.count <= Frames.bytesMax, batch.count <= Frames.operationsMax else {
            throw .invalidRequest
        }
        Frames.seal(&frame)
        while true {
            do throws(SystemError) {
                return try link.socket.send(frame.bytes)
            } catch {
                // A broker that is behind gets a moment; one that hangs must not hang us.
                guard error.wouldBlock, link.socket.waitWritable(milliseconds: 1000) else {
                    throw .serverNotFound
                }
            }
        }
    }
}

extension Entry {
    var pipe: Int32? {
        if case .pipe(let write) = delivery { write } else { nil }
    }
}
