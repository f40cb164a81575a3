internal import LinuxIO
internal import NotifyProtocol
internal import Synchronization

/// `self.` names: calls that end in this process.
extension NotifyClient {
    /// True for a token of a `self.` name.
    func isSelf(_ token: NotifyToken) throws(NotifyStatus) -> Bool {
        guard isOurs else { throw .invalidToken }
        // A token that has a register is the bus's, without a lock.
        if table.word(token) != 0 { return false }
        let isSelf = state.withLock { $0.entries[token]?.isSelf }
        guard let isSelf else { throw .invalidToken }
        return isSelf
    }

    /// The name of a `self.` token as it stands.
    func selfName(_ token: NotifyToken) -> SelfNames.Name? {
        state.withLock { state in
            state.entries[token].map { state.names[$0.wanted.name] }
        }
    }

    func checkSelf(_ token: NotifyToken) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[token] else { return false }
            let posts = state.names[entry.wanted.name].posts
            state.entries[token]?.seen = posts
            return entry.seen != posts
        }
    }

    /// Sets the state of a `self.` name.
    ///
    /// - Returns: false for a name of the bus.
    func setSelf(_ token: NotifyToken, _ value: UInt64) throws(NotifyStatus) -> Bool {
        guard try isSelf(token) else { return false }
        state.withLock { state in
            if let name = state.entries[token]?.wanted.name { state.names.set(name, value) }
        }
        return true
    }

    func postSelf(_ token: NotifyToken, setting value: UInt64? = nil) {
        let name = state.withLock { $0.entries[token]?.wanted.name }
        if let name { postSelf(name, setting: value) }
    }

    /// Counts a post, and leaves the deliveries to the second thread: this one never blocks.
    func postSelf(_ name: String, setting value: UInt64? = nil) {
        let mustRing = state.withLock { state in
            if let value { state.names.set(name, value) }
            guard let posted = state.names.post(name) else { return false }
            var mustRing = false
            for token in posted.tokens where state.entries[token]?.delivery.delivers == true {
                let event = NotifyEvent(
                    token: token,
                    merged: 1,
                    post: posted.posts,
                    state: posted.state,
                    connection: state.connection,
                    pid: Environment.pid,
                    uid: Environment.uid,
                    cause: .post
                )
                if state.hold(event) { mustRing = true }
            }
            return mustRing
        }
        if mustRing { bell.ring() }
    }
}
