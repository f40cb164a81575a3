internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

/// The second thread: `self.` names, handlers that may call the client, full pipes, watched files.
extension NotifyClient {
    /// Tags of the second thread's poller; those of pipes lie above.
    private enum Tag {
        static let bell: UInt64 = 0
        static let files: UInt64 = 1
        static let pipes: UInt64 = 2
    }

    /// What the second thread owns.
    private struct Local: ~Copyable {
        var poller: Poller
        /// Pipes that the poller watches for room: the end to read, and the one to write.
        var pipes: [Int32: Int32] = [:]
        var hasFiles = false

        init(bell: Wake) throws(SystemError) {
            let poller = try Poller()
            try poller.add(bell.descriptor, tag: Tag.bell)
            self.poller = poller
        }
    }

    /// Starts the thread, if it does not run yet.
    func startLocal() throws(NotifyStatus) {
        let isThere = localThread.withLock { held -> Bool in
            if held != nil { return true }
            let started = Mailbox<Bool>(capacity: 1)
            let made = try? OwnedThread("notify-local") { [self] in
                Signals.blockAll()
                localThreadID.store(OwnedThread.currentID, ordering: .sequentiallyConsistent)
                do {
                    var local = try Local(bell: bell)
                    _ = started.trySend(true)
                    run(&local)
                } catch {
                    _ = started.trySend(false)
                }
            }
            guard let made, started.receive() == true else { return false }
            held = made
            return true
        }
        guard isThere else { throw .failed }
    }

    private func run(_ local: inout Local) {
        while !state.withLock({ $0.isClosed }) {
            for event in state.withLock({ $0.takeQueued() }) { deliver(event, isLocal: true) }
            watchPipes(&local)
            watchFiles(&local)
            var ready: [Poller.Event] = []
            try? local.poller.wait(timeout: timeUntilDue()) { ready.append($0) }
            for event in ready where event.tag >= Tag.pipes {
                let pipe = Int32(event.tag - Tag.pipes)
                if let write = local.pipes.removeValue(forKey: pipe) { local.poller.remove(write) }
                state.withLock { state in
                    state.drain(pipe)
                    // The program has closed its end, against the rules: nobody will ever read.
                    if event.readiness.contains(.closed) { state.giveUp(pipe) }
                }
            }
            bell.hear()
            readFiles()
        }
    }

    /// Lets the poller watch the pipes that tokens wait for, and closes what is not used any more.
    private func watchPipes(_ local: inout Local) {
        let dead = state.withLock { $0.pipes.takeDead() }
        for write in dead {
            for (read, end) in local.pipes where end == write { local.pipes[read] = nil }
            local.poller.remove(write)
            Descriptor.close(write)
        }
        for (read, write) in state.withLock({ $0.pipes.blocked }) where local.pipes[read] == nil {
            let tag = Tag.pipes + UInt64(read)
            guard (try? local.poller.add(write, tag: tag, for: .writable)) != nil else { continue }
            local.pipes[read] = write
        }
    }

    private func watchFiles(_ local: inout Local) {
        guard !local.hasFiles else { return }
        guard let raw = state.withLock({ $0.files?.watch.descriptor }) else { return }
        local.hasFiles = (try? local.poller.add(raw, tag: Tag.files)) != nil
    }

    private func timeUntilDue() -> Int32 {
        let due = state.withLock { $0.queued.isEmpty ? $0.files?.nextDue : 0 }
        guard let due else { return -1 }
        let now = Clock.system.boot()
        // Rounded up, so that the time has come when the wait for it ends.
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    private func readFiles() {
        let now = Clock.system.boot()
        state.withLock { state in
            guard state.files != nil else { return }
            state.files?.read(now: now)
            for token in state.files?.takeDue(now: now) ?? [] {
                table.setSeen(token, TokenTable.unseen)
                guard let entry = state.entries[token], entry.delivery.delivers else { continue }
                let slot = MemoryViews.place(entry.info)
                let event = NotifyEvent(
                    token: token,
                    merged: 1,
                    post: view.load(MemoryLayoutOfBus.posts(slot)),
                    state: view.load(MemoryLayoutOfBus.state(slot)),
                    connection: state.connection,
                    pid: Environment.pid,
                    uid: Environment.uid,
                    cause: .post
                )
                // This thread takes it up itself, before it waits again.
                _ = state.hold(event)
            }
        }
    }

    /// Lets a token hear of a file's changes, as if its name were posted to it alone.
    ///
    /// Changes merge over 100 ms. A path that does not exist is watched until it does. Works
    /// without a broker, on a token that was registered with one.
    ///
    /// - Parameters:
    ///   - token: one that this client has registered.
    ///   - path: absolute.
    ///   - changes: those to hear of; none means all.
    /// - Throws: `invalidRequest` where the path is relative, the token's name is a `self.` name,
    ///   or the token watches another path; `notAuthorized` where the folder may not be read.
    public func monitorFile(_ token: NotifyToken, _ path: String, _ changes: FileChanges = [])
        throws(NotifyStatus)
    {
        if try isSelf(token) { throw .invalidRequest }
        guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidRequest }
        try startLocal()
        let status = state.withLock { state -> NotifyStatus in
            do throws(SystemError) {
                if state.files == nil { state.files = try FileMonitor() }
            } catch {
                return .failed
            }
            do throws(NotifyStatus) {
                try state.files?.add(token, path, changes.isEmpty ? .all : changes)
                return .ok
            } catch {
                return error
            }
        }
        if status != .ok { throw status }
        bell.ring()
    }

    /// Returns when no handler runs on the second thread; on that thread itself, at once.
    func leaveHandlers() {
        if localThreadID.load(ordering: .relaxed) == OwnedThread.currentID { return }
        handling.withLock { _ in }
    }
}
