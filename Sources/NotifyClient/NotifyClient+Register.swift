internal import Basics
public import Dispatch
internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

/// Every registration throws `invalidName`, `notAuthorized`, `disabled`, `serverNotFound` (except
/// of `self.` names, which need no broker), or `failed`.
extension NotifyClient {
    /// Registers a name for `check` and `state`.
    public func registerCheck(_ name: String) throws(NotifyStatus) -> NotifyToken {
        try register([plain(name)], .none)[0]
    }

    /// Registers a name; `handler` runs on `queue` for each delivery.
    public func registerDispatch(
        _ name: String,
        queue: DispatchQueue,
        _ handler: @escaping @Sendable (NotifyEvent) -> Void
    ) throws(NotifyStatus) -> NotifyToken {
        try register([plain(name)], .queue(queue, handler))[0]
    }

    /// Registers a name; `handler` runs on the client's own thread and must not block.
    ///
    /// It is the fastest way. Events of `self.` names and of watched files come on the client's
    /// second thread.
    public func registerDirect(
        _ name: String,
        _ handler: @escaping @Sendable (NotifyEvent) -> Void
    ) throws(NotifyStatus) -> NotifyToken {
        try register([plain(name)], .direct(handler))[0]
    }

    /// Registers a name; `handler` runs on the client's second thread, where it may make any call.
    ///
    /// Handlers run one after the other; posts meanwhile merge into one event a token. When
    /// `cancel` returns, the handler does not run and will not, unless it is itself the caller.
    public func registerHandler(
        _ name: String,
        _ handler: @escaping @Sendable (NotifyEvent) -> Void
    ) throws(NotifyStatus) -> NotifyToken {
        try register([plain(name)], .handler(handler))[0]
    }

    /// Registers a name; each delivery sends this process the signal, and `check` tells which name
    /// it was for.
    ///
    /// Signals merge. A number that is no signal is taken, and nothing comes.
    public func registerSignal(_ name: String, _ number: Int32) throws(NotifyStatus)
        -> NotifyToken
    {
        try register([plain(name)], .signal(number))[0]
    }

    /// Registers a name; each delivery writes the token, 4 bytes big-endian, to a pipe.
    ///
    /// A pipe that is full gets the token once it drains. The descriptor belongs to the client,
    /// which closes it when the last token that uses it is cancelled.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - reuse: a descriptor that an earlier call gave, to share it.
    /// - Returns: the token, and the descriptor to read.
    /// - Throws: `invalidFile` where `reuse` is not such a descriptor.
    public func registerFileDescriptor(_ name: String, reuse: Int32? = nil)
        throws(NotifyStatus) -> (token: NotifyToken, descriptor: Int32)
    {
        guard isOurs else { throw .disabled }
        guard Frames.isValid(name: name) else { throw .invalidName }
        // The use is counted before the broker is asked, so that the pipe stays meanwhile.
        let descriptor = state.withLock { state -> Int32? in
            let read = reuse ?? (try? state.pipes.make())
            guard let read, state.pipes.use(read) else { return nil }
            return read
        }
        guard let descriptor else { throw reuse == nil ? .failed : .invalidFile }
        do throws(NotifyStatus) {
            return (try register([plain(name)], .pipe(read: descriptor))[0], descriptor)
        } catch {
            state.withLock { $0.pipes.release(descriptor) }
            throw error
        }
    }

    /// Claims a name: nobody else can write it while this connection lives (and lingers).
    ///
    /// - Throws: `notAuthorized` if it is somebody else's.
    public func claim(_ name: String, _ options: ClaimOptions = ClaimOptions()) throws(NotifyStatus)
        -> NotifyToken
    {
        try claimAll([(name, options, 0)])[0]
    }

    /// Claims a name with a pool of `count` registers (1 to 4096).
    public func claimPool(_ name: String, count: Int, linger: UInt32 = 0) throws(NotifyStatus)
        -> NotifyToken
    {
        try claimAll([(name, ClaimOptions(linger: linger), count)])[0]
    }

    /// Claims several names in one frame: all of them, or none.
    ///
    /// - Throws: `invalidRequest` for a `self.` name: it is this process's anyway.
    public func claimAll(_ claims: [(name: String, options: ClaimOptions, pool: Int)])
        throws(NotifyStatus) -> [NotifyToken]
    {
        let wanted = claims.map { claim in
            var registration = plain(claim.name)
            registration.claims = true
            registration.state = claim.options.state
            registration.will = claim.options.will
            registration.linger = claim.options.linger
            registration.deadline = claim.options.deadline
            registration.pool = claim.pool
            return registration
        }
        return try register(wanted, .none)
    }

    /// Registers a name that has a pool, to read it.
    ///
    /// - Throws: `invalidRequest` if it has none.
    public func openPool(_ name: String) throws(NotifyStatus) -> NotifyToken {
        let token = try registerCheck(name)
        if try information(token).poolCount > 0 { return token }
        try cancel(token)
        throw .invalidRequest
    }

    private func plain(_ name: String) -> Registration {
        Registration(token: 0, name: name)
    }

    private func register(_ wanted: [Registration], _ delivery: Delivery) throws(NotifyStatus)
        -> [NotifyToken]
    {
        guard isOurs else { throw .disabled }
        for registration in wanted {
            guard Frames.isValid(name: registration.name) else { throw .invalidName }
        }
        let isSelf = wanted.contains { SelfNames.holds($0.name) }
        if isSelf, wanted.contains(where: \.claims) { throw .invalidRequest }
        if !isSelf {
            try mayAsk()
            _ = try currentLink()
        }
        if delivery.isLocal || isSelf && delivery.delivers { try startLocal() }
        let tokens = newTokens(wanted, delivery, isSelf: isSelf)
        guard let tokens else { throw .failed }
        if isSelf { return tokens }
        var batch = NotifyBatch()
        for token in tokens {
            table.setSeen(token, TokenTable.unseen)
            if let wanted = state.withLock({ $0.entries[token]?.wanted }) {
                batch.append(.register(wanted))
            }
        }
        do throws(NotifyStatus) {
            let results = RequestResult.read(try request(batch)) ?? []
            try adopt(tokens, results)
        } catch {
            state.withLock { state in
                for token in tokens {
                    // The caller keeps its pipe, and lets it go itself.
                    state.entries[token]?.delivery = .none
                    state.remove(token)
                }
            }
            // A broker that was too slow may yet register them.
            if error == .serverNotFound { undo(tokens) }
            throw error
        }
        return tokens
    }

    private func newTokens(_ wanted: [Registration], _ delivery: Delivery, isSelf: Bool)
        -> [NotifyToken]?
    {
        state.withLock { state -> [NotifyToken]? in
            var made: [NotifyToken] = []
            for registration in wanted {
                guard let token = state.newToken() else { return nil }
                var entry = Entry(wanted: registration, delivery: delivery, isSelf: isSelf)
                entry.wanted.token = UInt32(bitPattern: token)
                entry.wanted.delivers = delivery.delivers
                state.entries[token] = entry
                if isSelf { state.names.register(registration.name, token) }
                made.append(token)
            }
            return made
        }
    }

    private func adopt(_ tokens: [NotifyToken], _ results: [RequestResult]) throws(NotifyStatus) {
        guard results.count == tokens.count else { throw .failed }
        if let refused = results.first(where: { $0.status != .ok }) {
            let granted = zip(tokens, results).filter { $0.1.status == .ok }.map(\.0)
            undo(granted)
            throw refused.status
        }
        for (token, result) in zip(tokens, results) {
            guard let info = result.info else { throw .failed }
            let attach = state.withLock { state in
                state.entries[token]?.info = info
                return state.attaches
            }
            table.set(token, slot: MemoryViews.place(info), attach: attach)
        }
    }

    /// Lets the broker forget tokens that this client has given up.
    private func undo(_ tokens: [NotifyToken]) {
        var batch = NotifyBatch()
        for token in tokens { batch.append(.cancel(token: UInt32(bitPattern: token))) }
        if batch.count > 0 { try? send(batch, wait: 0) }
    }
}
