internal import Basics
internal import InternalNotification
internal import LinuxIO
internal import NotifyClient
internal import Spool
internal import Synchronization
internal import Telemetry

/// The collect thread's whole state: the source, the pipeline, and what is on its way to the disk.
struct Collector {
    private var source: BusSource
    private var pipeline: Pipeline
    private let spool: SpoolThread
    private let clock: Clock
    private let own: PeerInstance
    private var inFlight = 0
    private var hasToldFull = false
    private var impostors: UInt64 = 0
    /// Instances that were alive when the agent last stopped and have not been seen again yet.
    private var unverified: Set<PeerInstance>
    private var unverifiedUntil: UInt64

    init(
        source: BusSource,
        books: Books,
        spool: SpoolThread,
        clock: Clock,
        credentials: (pid: Int32, uid: UInt32)
    ) {
        self.source = source
        self.spool = spool
        self.clock = clock
        let now = clock.wall()
        own = PeerInstance(identifier: BusSource.identifier, epoch: UInt64(clamping: now))
        pipeline = Pipeline(books: books)
        unverified = Set(books.peers.keys)
        unverifiedUntil = clock.boot() + Limits.lostAfter
        pipeline.books.update(own) { state in
            state.fingerprint = ChannelNames.fingerprint(of: BusSource.identifier, attempt: 1)
            (state.pid, state.uid) = credentials
            (state.appeared, state.changed, state.lastSeen) = (now, now, now)
        }
        for instance in unverified where instance.identifier == BusSource.identifier {
            // An agent that did not say goodbye itself was killed.
            unverified.remove(instance)
            pipeline.books.update(instance) { state in
                state.presence = .died
                state.changed = now
            }
        }
        for finding in spool.findings {
            pipeline.acceptOwn(
                kind: "intel.damage",
                level: .error,
                payload: finding.json,
                instance: own,
                received: now,
                now: clock.boot()
            )
        }
    }

    /// One round: presence, rings, commits.
    ///
    /// - Returns: when the next round is due even if nothing rings, CLOCK_BOOTTIME ns.
    mutating func turn() -> UInt64 {
        let now = clock.boot()
        source.repeatIfReattached()
        complete()
        // Presence changes are records too: where there is no room for records, they wait.
        if pipeline.batcher.hasRoom {
            for change in source.reader.update(now: now) { note(change, now: now) }
        }
        tellIfFull()
        let isDone = read(now: now)
        forgetEnded(now: now)
        // While the bus is away nobody can be seen, so nobody is taken for dead.
        if !source.client.isAttached { unverifiedUntil = now + Limits.lostAfter }
        if now >= unverifiedUntil, !unverified.isEmpty { buryUnverified(now: now) }
        seal(now: now)
        // A commit that ends rings the bell.
        guard pipeline.batcher.hasRoom else { return now + Limits.batchDelay }
        var next = isDone ? source.reader.nextUpdate : now
        if inFlight == 0, let due = pipeline.batcher.due { next = min(next, due) }
        return next
    }

    /// Reads what is in the rings, hands everything over and says that the agent has left.
    ///
    /// Rings of peers that have ended are read to the end, in as many commits as that takes, since
    /// nobody will write them again; whoever is alive keeps what it is not told about.
    mutating func finish() {
        var now = clock.boot()
        let deadline = now + Limits.stopTimeout
        // What the bus has told may not have been heard yet; a listing is heard after all of it.
        source.reader.mustScan()
        for change in source.reader.update(now: now) { note(change, now: now) }
        while true {
            complete()
            _ = read(now: now)
            forgetEnded(now: now)
            guard source.reader.hasEndedNews, now < deadline else { break }
            pipeline.batcher.isUrgent = true
            seal(now: now)
            source.wake.wait(nanoseconds: Limits.batchDelay)
            now = clock.boot()
        }
        let wall = clock.wall()
        pipeline.books.update(own) { state in
            state.presence = .left
            state.changed = wall
            state.lastSeen = wall
        }
        pipeline.batcher.begin(now: now)
        seal(now: now, isLast: true)
        pipeline.books.close()
    }

    /// After the spool has written everything: the last acknowledgements, then goodbye.
    mutating func close() {
        complete()
        source.close()
    }

    /// Peers that are there or are still read.
    var peerCount: Int { source.peerCount }

    /// Figures for others to look at.
    var figures: AgentFigures {
        var figures = AgentFigures()
        let written = spool.figures
        figures.stored = written.storedRecords
        figures.commits = written.commits
        figures.failedCommits = written.failedCommits
        figures.failure = written.failure
        figures.logBytes = written.logBytes
        figures.logHeldBytes = written.logHeldBytes
        figures.checkpointsHeld = written.checkpointsHeld
        figures.findings = spool.findings.count
        figures.segments = written.compaction.segments
        figures.compacted = written.compaction.records
        figures.strays = written.compaction.strays
        figures.compactionFailure = written.compaction.failure
        figures.removedRecords = written.compaction.removedRecords
        figures.removedBytes = written.compaction.removedBytes
        figures.spoolBytes = written.compaction.bytes
        figures.spoolBytesMax = written.compaction.bytesMax
        figures.retentionFailure = written.compaction.retentionFailure
        figures.retentionWarnings = written.compaction.retentionWarnings
        figures.duplicates = pipeline.duplicates
        figures.malformed = pipeline.malformed
        figures.relabelled = pipeline.relabelled
        figures.waitingBytes = pipeline.batcher.bytes
        figures.commitsInFlight = inFlight
        figures.booksInMemory = pipeline.books.peers.count
        figures.isAttached = source.client.isAttached
        figures.isFull = source.reader.isFull
        figures.impostors = source.reader.impostors
        let totals = pipeline.books.totals
        figures.missing = totals.missing
        figures.dropped = totals.dropped
        figures.alive = pipeline.books.peers.count { instance, state in
            state.presence == .alive && !unverified.contains(instance)
        }
        return figures
    }

    private mutating func complete() {
        for consignment in spool.takeCompleted() {
            inFlight -= 1
            source.acknowledge(consignment.acknowledgements)
        }
        guard inFlight == 0 else { return }
        pipeline.books.settle()
        letGo()
    }

    /// Peers that ended long ago make room; a quarter at a time, so that it is rarely done.
    private mutating func letGo() {
        guard pipeline.books.peers.count > Limits.peersMax + source.peerCount else { return }
        let linked = Set(source.reader.links.values.map(\.instance))
        pipeline.books.letGo(downTo: Limits.peersMax * 3 / 4 + linked.count) {
            linked.contains($0)
        }
    }

    private mutating func read(now: UInt64) -> Bool {
        source.read(into: &pipeline, received: clock.wall(), now: now)
    }

    private mutating func seal(now: UInt64, isLast: Bool = false) {
        guard isLast || (inFlight == 0 && pipeline.batcher.isDue(now: now)) else { return }
        let (records, losses) = pipeline.batcher.take()
        let peers = pipeline.books.takeChanges()
        let consignment = Consignment(
            commit: SpoolCommit(records: records, peers: peers, losses: losses),
            acknowledgements: peers.map {
                Acknowledgement(
                    instance: $0.instance,
                    fingerprint: $0.fingerprint,
                    sequence: source.storedUpTo($0.accounted, of: $0.fingerprint, $0.instance)
                )
            }
        )
        // The mailbox has room: one commit at a time is in flight, and the last one.
        if spool.send(consignment) { inFlight += 1 }
    }

    private mutating func note(_ change: PresenceChange, now: UInt64) {
        let wall = clock.wall()
        let isKnown = unverified.remove(change.instance) != nil
        let link = source.reader.links[change.fingerprint]
        let previous = pipeline.books[change.instance]
        let isNew = previous.appeared == 0
        pipeline.books.update(change.instance) { state in
            state.fingerprint = change.fingerprint
            state.apikey = link?.apikey ?? state.apikey
            if change.pid != 0 { (state.pid, state.uid) = (change.pid, change.uid) }
            if isNew { state.appeared = wall }
            state.changed = wall
            state.lastSeen = max(state.lastSeen, wall)
            state.presence =
                switch change.kind {
                case .appeared, .reappeared: .alive
                case .left: .left
                case .died: .died
                case .lost: .lost
                }
        }
        var kind = change.kind
        if kind == .appeared {
            // Known and alive before the agent itself was restarted: nothing has changed.
            if isKnown, previous.presence == .alive { return }
            if !isNew { kind = .reappeared }
        }
        if kind == .left || kind == .died { source.rereadEnded(change.fingerprint) }
        record(kind, change.instance, pid: change.pid, uid: change.uid, wall: wall, now: now)
    }

    /// Said once each time the limit is met, not once a look.
    private mutating func tellIfFull() {
        if source.reader.impostors > impostors {
            impostors = source.reader.impostors
            StandardError.line(
                "intel: meet peer: it has name and start of one that is there, it is passed over"
            )
        }
        let isFull = source.reader.isFull
        if isFull, !hasToldFull {
            StandardError.line(
                "intel: meet peer: \(Limits.peersMax) peers are there already, "
                    + "the others wait with what they have"
            )
        }
        hasToldFull = isFull
    }

    private mutating func forgetEnded(now: UInt64) {
        // Else some were not looked at in this turn.
        guard pipeline.batcher.hasRoom else { return }
        let ended = source.reader.links.filter {
            source.reader.hasEnded($0.key) && $0.value.isReadToEnd
        }
        for (fingerprint, link) in ended {
            let sent = source.forget(fingerprint)
            let wall = clock.wall()
            pipeline.books.update(link.instance) {
                Deduplicator.finish(sent: sent, time: wall, in: &$0)
            }
        }
    }

    private mutating func buryUnverified(now: UInt64) {
        let wall = clock.wall()
        for instance in unverified {
            let state = pipeline.books.update(instance) { state in
                state.presence = .died
                state.changed = wall
                return state
            }
            record(.died, instance, pid: state.pid, uid: state.uid, wall: wall, now: now)
        }
        unverified = []
    }

    private mutating func record(
        _ kind: PresenceChange.Kind,
        _ instance: PeerInstance,
        pid: Int32,
        uid: UInt32,
        wall: Int64,
        now: UInt64
    ) {
        var payload = Array(#"{"change":""#.utf8)
        payload.append(contentsOf: kind.rawValue.utf8)
        payload.append(contentsOf: #"","peer":"#.utf8)
        JSONText.appendString(instance.identifier, to: &payload)
        payload.append(contentsOf: #","epoch":"#.utf8)
        payload.appendDecimal(instance.epoch)
        payload.append(contentsOf: #","pid":"#.utf8)
        payload.appendDecimal(Int64(pid))
        payload.append(contentsOf: #","uid":"#.utf8)
        payload.appendDecimal(UInt64(uid))
        payload.append(UInt8(ascii: "}"))
        pipeline.acceptOwn(
            kind: "intel.presence",
            level: kind == .died || kind == .lost ? .warning : .info,
            payload: payload,
            instance: own,
            received: wall,
            now: now
        )
    }
}
