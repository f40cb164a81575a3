internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

/// Calls on a token throw `invalidToken` where it is none of this client's, and `disabled` or
/// `serverNotFound` where the broker is needed and may not be asked, or does not answer.
extension NotifyClient {
    /// True if the name was posted since this token's last check; true the first time.
    ///
    /// No system call, no lock (`self.` names: a lock).
    public func check(_ token: NotifyToken) throws(NotifyStatus) -> Bool {
        guard let posts = try load(token, MemoryLayoutOfBus.posts) else { return checkSelf(token) }
        guard table.seenPosts(token) != posts else { return false }
        table.setSeen(token, posts)
        return true
    }

    /// The name's state.
    ///
    /// No system call, no lock (`self.` names: a lock).
    public func state(_ token: NotifyToken) throws(NotifyStatus) -> UInt64 {
        if let value = try load(token, MemoryLayoutOfBus.state) { return value }
        return selfName(token)?.state ?? 0
    }

    /// The name's post count, its low 32 bits: another number than before means posts.
    ///
    /// No system call, no lock (`self.` names: a lock).
    public func peek(_ token: NotifyToken) throws(NotifyStatus) -> UInt32 {
        let posts = try load(token, MemoryLayoutOfBus.posts) ?? selfName(token)?.posts ?? 0
        return UInt32(truncatingIfNeeded: posts)
    }

    /// A word of a token's register; nil for a `self.` name, which has none.
    @inline(__always)
    private func load(_ token: NotifyToken, _ place: (Int) -> Int) throws(NotifyStatus) -> UInt64? {
        guard isOurs else { throw .invalidToken }
        while true {
            let word = table.word(token)
            guard word != 0, isEnabled else { return try explain(token) }
            let offset = place(TokenTable.slot(word))
            let value =
                offset < MemoryViews.commonEnd
                ? SharedWords.load(UnsafeRawPointer(bitPattern: viewAt).unsafelyUnwrapped + offset)
                : view.load(offset)
            if table.word(token) == word { return value }
        }
    }

    /// Why a token has no register now; nil for a `self.` name.
    private func explain(_ token: NotifyToken) throws(NotifyStatus) -> UInt64? {
        let isSelf = state.withLock { $0.entries[token]?.isSelf }
        guard let isSelf else { throw .invalidToken }
        if isSelf { return nil }
        throw isEnabled ? .serverNotFound : .disabled
    }

    /// Sets the name's state and waits for the broker's answer.
    public func setState(_ token: NotifyToken, _ value: UInt64) throws(NotifyStatus) {
        if try setSelf(token, value) { return }
        var batch = NotifyBatch()
        batch.set(token, value)
        try write(batch, quiet: false)
    }

    /// Sets the name's state and posts it, as one, and waits for the broker's answer.
    public func setAndPost(_ token: NotifyToken, _ value: UInt64) throws(NotifyStatus) {
        if try isSelf(token) { return postSelf(token, setting: value) }
        var batch = NotifyBatch()
        batch.setAndPost(token, value)
        try write(batch, quiet: false)
    }

    /// Posts a token's name and waits for the broker's answer.
    public func post(_ token: NotifyToken) throws(NotifyStatus) {
        if try isSelf(token) { return postSelf(token) }
        var batch = NotifyBatch()
        batch.post(token)
        try write(batch, quiet: false)
    }

    /// Posts a name and waits for the broker's answer, 1 s at the most; with nobody registered
    /// nothing happens.
    public func post(_ name: String) throws(NotifyStatus) {
        guard Frames.isValid(name: name) else { throw .invalidName }
        guard isOurs else { throw .disabled }
        if SelfNames.holds(name) { return postSelf(name) }
        var batch = NotifyBatch()
        batch.append(.postName(name))
        try write(batch, quiet: false)
    }

    /// Posts a name and waits for nothing: neither for an answer nor for room in the socket.
    ///
    /// What the broker refuses, and what could not be sent, counts in `quietErrors`; of the latter
    /// the call tells as well.
    public func postOneWay(_ name: String) throws(NotifyStatus) {
        guard Frames.isValid(name: name) else { throw .invalidName }
        try mayAsk()
        if SelfNames.holds(name) { return postSelf(name) }
        var batch = NotifyBatch()
        batch.append(.postName(name))
        do throws(NotifyStatus) {
            try send(batch, wait: 0)
        } catch {
            state.withLock { $0.quietErrors += 1 }
            throw error
        }
    }

    /// Sends a batch, of names on the bus alone.
    ///
    /// A quiet one does not wait for an answer, and refusals are counted in `quietErrors`; where
    /// the socket is full it waits for room, 1 s at the most.
    public func write(_ batch: NotifyBatch, quiet: Bool = true) throws(NotifyStatus) {
        guard batch.count > 0 else { return }
        try mayAsk()
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

    /// Holds deliveries back; each call needs a `resume`.
    ///
    /// Posts meanwhile merge into one. `check` sees them all the same.
    public func suspend(_ token: NotifyToken) throws(NotifyStatus) {
        guard isOurs else { throw .invalidToken }
        let status = suspending.withLock { _ in suspendOnce(token) }
        if status != .ok { throw status }
    }

    /// Undoes one `suspend`; more of them do no harm.
    public func resume(_ token: NotifyToken) throws(NotifyStatus) {
        guard isOurs else { throw .invalidToken }
        let status = suspending.withLock { _ in resumeOnce(token) }
        if status != .ok { throw status }
    }

    /// The broker knows suspended or not; the depth is counted here.
    ///
    /// What fails is returned, for a lock does not carry typed errors out.
    private func suspendOnce(_ token: NotifyToken) -> NotifyStatus {
        do throws(NotifyStatus) {
            let isSelf = try isSelf(token)
            let isFirst = state.withLock { $0.entries[token]?.suspensions == 0 }
            if isFirst, !isSelf { try simple(.suspend(token: UInt32(bitPattern: token))) }
            state.withLock { $0.entries[token]?.suspensions += 1 }
            return .ok
        } catch {
            return error
        }
    }

    private func resumeOnce(_ token: NotifyToken) -> NotifyStatus {
        do throws(NotifyStatus) {
            let isSelf = try isSelf(token)
            let isLast = state.withLock { $0.entries[token]?.suspensions == 1 }
            if isLast, !isSelf { try simple(.resume(token: UInt32(bitPattern: token))) }
            if state.withLock({ $0.release(token) }) { bell.ring() }
            return .ok
        } catch {
            return error
        }
    }

    private func simple(_ operation: Operation) throws(NotifyStatus) {
        var batch = NotifyBatch()
        batch.append(operation)
        try write(batch, quiet: false)
    }

    /// Lets a registration go.
    ///
    /// No handler of it is called on its queue afterwards.
    public func cancel(_ token: NotifyToken) throws(NotifyStatus) {
        guard isOurs else { throw .invalidToken }
        let entry = state.withLock { $0.entries[token] }
        guard let entry else { throw .invalidToken }
        table.clear(token)
        state.withLock { $0.remove(token) }
        if entry.delivery.isLocal || entry.isSelf { leaveHandlers() }
        if entry.isSelf { return }
        var batch = NotifyBatch()
        batch.append(.cancel(token: UInt32(bitPattern: token)))
        // Waited for, so that a name is free when this returns; on the client's own thread it
        // cannot be, and without a broker there is nothing left to cancel.
        if (try? request(batch)) == nil { try? send(batch, wait: 0) }
    }

    /// True while the token is registered in this client.
    public func isValid(_ token: NotifyToken) -> Bool {
        isOurs && state.withLock { $0.entries[token] != nil }
    }
}
