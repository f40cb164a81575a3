internal import Basics
public import Dispatch
internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

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
    public func registerDirect(
        _ name: String,
        _ handler: @escaping @Sendable (NotifyEvent) -> Void
    ) throws(NotifyStatus) -> NotifyToken {
        try register([plain(name)], .direct(handler))[0]
    }

    /// Registers a name; each delivery writes the token, 4 bytes big-endian, to a pipe.
    ///
    /// - Parameter reuse: a descriptor that an earlier call gave, to share it.
    /// - Returns: the token, and the descriptor to read; it is closed by the caller.
    /// - Throws: `invalidFile` where `reuse` is not such a descriptor.
    public func registerFileDescriptor(_ name: String, reuse: NotifyToken? = nil)
        throws(NotifyStatus) -> (token: NotifyToken, descriptor: Int32)
    {
        if let reuse {
            guard let write = state.withLock({ $0.entries[reuse]?.pipe }) else {
                throw .invalidFile
            }
            return (try register([plain(name)], .pipe(write: write))[0], -1)
        }
        let ends: (read: Int32, write: Int32)
        do throws(SystemError) {
            ends = try Descriptor.pipe(nonBlockingWrite: true)
        } catch {
            throw .failed
        }
        do throws(NotifyStatus) {
            return (try register([plain(name)], .pipe(write: ends.write))[0], ends.read)
        } catch {
            Descriptor.close(ends.read)
            Descriptor.close(ends.write)
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
        for registration in wanted {
            guard Frames.isValid(name: registration.name) else { throw .invalidName }
        }
        let tokens = state.withLock { state -> [NotifyToken]? in
            var made: [NotifyToken] = []
            for registration in wanted {
                guard let token = state.newToken() else { return nil }
                var entry = Entry(wanted: registration, delivery: delivery)
                entry.wanted.token = UInt32(bitPattern: token)
                entry.wanted.delivers = delivery.delivers
                state.entries[token] = entry
                made.append(token)
            }
            return made
        }
        guard let tokens else { throw .failed }
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
            state.withLock { state in for token in tokens { state.release(token) } }
            throw error
        }
        return tokens
    }

    private func adopt(_ tokens: [NotifyToken], _ results: [RequestResult]) throws(NotifyStatus) {
        guard results.count == tokens.count else { throw .failed }
        if let refused = results.first(where: { $0.status != .ok }) {
            var undo = NotifyBatch()
            for (token, result) in zip(tokens, results) where result.status == .ok {
                undo.append(.cancel(token: UInt32(bitPattern: token)))
            }
            if undo.count > 0 { try? send(undo) }
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

    /// True if the name was posted since this token's last check; true the first time.
    ///
    /// No system call, no lock.
    public func check(_ token: NotifyToken) throws(NotifyStatus) -> Bool {
        let posts = try load(token, MemoryLayoutOfBus.posts)
        guard table.seenPosts(token) != posts else { return false }
        table.setSeen(token, posts)
        return true
    }

    /// The name's state.
    ///
    /// No system call, no lock.
    public func state(_ token: NotifyToken) throws(NotifyStatus) -> UInt64 {
        try load(token, MemoryLayoutOfBus.state)
    }

    @inline(__always)
    private func load(_ token: NotifyToken, _ place: (Int) -> Int) throws(NotifyStatus) -> UInt64 {
        while true {
            let word = table.word(token)
            guard word != 0 else { throw isValid(token) ? .serverNotFound : .invalidToken }
            let value = view.load(place(TokenTable.slot(word)))
            if table.word(token) == word { return value }
        }
    }

    /// Sets the name's state and waits for the broker's answer.
    public func setState(_ token: NotifyToken, _ value: UInt64) throws(NotifyStatus) {
        var batch = NotifyBatch()
        batch.set(token, value)
        try write(batch, quiet: false)
    }

    /// Sets the name's state and posts it, as one, and waits for the broker's answer.
    public func setAndPost(_ token: NotifyToken, _ value: UInt64) throws(NotifyStatus) {
        var batch = NotifyBatch()
        batch.setAndPost(token, value)
        try write(batch, quiet: false)
    }

    /// Posts a token's name and waits for the broker's answer.
    public func post(_ token: NotifyToken) throws(NotifyStatus) {
        var batch = NotifyBatch()
        batch.post(token)
        try write(batch, quiet: false)
    }

    /// Posts a name and waits for the broker's answer; with nobody registered nothing happens.
    public func post(_ name: String) throws(NotifyStatus) {
        guard Frames.isValid(name: name) else { throw .invalidName }
        var batch = NotifyBatch()
        batch.append(.postName(name))
        try write(batch, quiet: false)
    }

    /// Sends a batch.
    ///
    /// A quiet one does not wait: refusals are counted in `quietErrors`.
    public func write(_ batch: NotifyBatch, quiet: Bool = true) throws(NotifyStatus) {
        guard batch.count > 0 else { return }
        remember(batch.states)
        if quiet { return try send(batch) }
        let results = RequestResult.read(try request(batch)) ?? []
        guard results.count == batch.count else { throw .failed }
        if let refused = results.first(where: { $0.status != .ok }) { throw refused.status }
    }

    /// Keeps what this process has set, to say it again after a restart of the broker.
    func remember(_ states: [(token: NotifyToken, state: UInt64)]) {
        if states.isEmpty { return }
        let now = Clock.system.boot()
        state.withLock { state in
            for (token, value) in states {
                state.entries[token]?.wanted.state = value
                state.entries[token]?.wanted.stateTime = now
            }
        }
    }

    /// Copies registers of a pool.
    ///
    /// No system call.
    public func readPool(
        _ token: NotifyToken,
        at start: Int,
        count: Int,
        into words: inout [UInt64]
    )
        throws(NotifyStatus)
    {
        let (entry, layout) = state.withLock { ($0.entries[token], $0.layout) }
        guard let info = entry?.info else { throw .invalidToken }
        guard start >= 0, count >= 0, start + count <= info.poolCount else { throw .invalidRequest }
        let word = table.word(token)
        guard word != 0 else { throw .serverNotFound }
        guard let source = view.pool(info, from: start, count: count, layout) else {
            throw .invalidRequest
        }
        words = [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
            filled = count
        }
        // A re-attach in between may have put another broker's memory under the same address.
        SharedWords.fence()
        if table.word(token) != word { throw .serverNotFound }
    }

    /// Asks the broker about a token's name.
    ///
    /// A pool that was claimed after the token was registered can be read from then on.
    public func information(_ token: NotifyToken) throws(NotifyStatus) -> NameInfo {
        var batch = NotifyBatch()
        batch.append(.inspect(token: UInt32(bitPattern: token)))
        let result = RequestResult.read(try request(batch))?.first
        guard result?.status == .ok else { throw result?.status ?? .failed }
        guard let info = result?.info else { throw .failed }
        state.withLock { $0.entries[token]?.info = info }
        return info
    }

    /// The names that begin and end so, in order.
    public func list(prefix: String, suffix: String = "") throws(NotifyStatus) -> [NameInfo] {
        var found: [NameInfo] = []
        var isMore = true
        while isMore {
            var batch = NotifyBatch()
            let after = found.last?.name ?? ""
            batch.append(.list(prefix: prefix, suffix: suffix, after: after))
            let result = RequestResult.read(try request(batch))?.first
            guard let result, result.status == .ok else { throw result?.status ?? .failed }
            let before = found.count
            isMore = Self.readList(result.body, into: &found) && found.count > before
        }
        return found
    }

    private static func readList(_ body: [UInt8], into found: inout [NameInfo]) -> Bool {
        body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = try? reader.u32(), let more = try? reader.u32() else { return false }
            for _ in 0..<count {
                guard var info = try? NameInfo(from: &reader), let length = try? reader.u16(),
                    let name = try? reader.text(Int(length))
                else { return false }
                _ = try? reader.raw((8 - (Int(length) + 2) % 8) % 8)
                info.name = name
                found.append(info)
            }
            return more != 0
        }
    }

    /// Holds deliveries back; each call needs a `resume`.
    ///
    /// Posts meanwhile merge into one.
    public func suspend(_ token: NotifyToken) throws(NotifyStatus) {
        try simple(.suspend(token: UInt32(bitPattern: token)), token)
        state.withLock { $0.entries[token]?.suspensions += 1 }
    }

    /// Undoes one `suspend`; more of them do no harm.
    public func resume(_ token: NotifyToken) throws(NotifyStatus) {
        let count = state.withLock { state in
            let before = state.entries[token]?.suspensions ?? 0
            state.entries[token]?.suspensions = max(0, before - 1)
            return before
        }
        if count == 0, isValid(token) { return }
        try simple(.resume(token: UInt32(bitPattern: token)), token)
    }

    private func simple(_ operation: Operation, _ token: NotifyToken) throws(NotifyStatus) {
        guard isValid(token) else { throw .invalidToken }
        var batch = NotifyBatch()
        batch.append(operation)
        try write(batch, quiet: false)
    }

    /// Lets a registration go.
    ///
    /// No handler of it is called on its queue afterwards.
    public func cancel(_ token: NotifyToken) throws(NotifyStatus) {
        guard state.withLock({ $0.entries[token] != nil }) else { throw .invalidToken }
        table.clear(token)
        let pipe = state.withLock { $0.remove(token) }
        if let pipe { Descriptor.close(pipe) }
        var batch = NotifyBatch()
        batch.append(.cancel(token: UInt32(bitPattern: token)))
        // Waited for, so that a name is free when this returns; on the client's own thread it
        // cannot be, and without a broker there is nothing left to cancel.
        if (try? request(batch)) == nil { try? send(batch) }
    }

    /// True while the token is registered in this client.
    public func isValid(_ token: NotifyToken) -> Bool {
        state.withLock { $0.entries[token] != nil }
    }
}
