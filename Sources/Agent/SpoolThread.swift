internal import LinuxIO
internal import Spool
internal import Synchronization
internal import Telemetry

/// Up to which number a run of a peer is accounted for; its fingerprint is where to say so.
struct Acknowledgement: Sendable {
    var instance: PeerInstance
    var fingerprint: UInt32
    var sequence: UInt64
}

/// One commit on its way to the disk, and who may be told once it is there.
struct Consignment: Sendable {
    var commit: SpoolCommit
    /// Peers, and up to which sequence each is accounted for with this commit.
    var acknowledgements: [Acknowledgement]
}

/// The thread that owns the writing database.
///
/// Batches come in by a mailbox; "done" goes back by another, with a ring of the collect thread's
/// bell.
///
/// A commit that fails is tried again every second until it works or the agent is told to give up:
/// nothing of it was acknowledged, so nothing is lost.
final class SpoolThread: Sendable {
    struct Figures: Sendable {
        var storedRecords: UInt64 = 0
        var commits: UInt64 = 0
        /// Tries of a commit that failed.
        var failedCommits: UInt64 = 0
        var failure: String?
        /// Bytes of the write-ahead log's file.
        var logBytes: UInt64 = 0
        /// See `Checkpointer`.
        var checkpointsHeld: UInt64 = 0
        var logHeldBytes: UInt64 = 0
        var compaction = Compactor.Figures()
    }

    private let inbox = Mailbox<Consignment>(capacity: Limits.batchesQueuedMax)
    private let done = Mutex<[Consignment]>([])
    private let figuresBox = Mutex(Figures())
    private let mustGiveUp = Atomic<Bool>(false)
    /// When a failure was last told, by the boot clock, ns.
    ///
    /// A disk that is full again after every second commit is no news each time.
    private let told = Atomic<UInt64>(0)
    private static let toldAgainAfter: UInt64 = 60_000_000_000
    private let thread = Mutex<OwnedThread?>(nil)
    private let checkpointer = Mutex<Checkpointer?>(nil)
    private let compactor = Mutex<Compactor?>(nil)
    private let found = Mutex<[SpoolFinding]>([])

    /// Opens the spool on a new thread; returns once it is open.
    func start(
        directory: String,
        durability: Durability,
        compaction: CompactionLimits = CompactionLimits(),
        retention: RetentionRules = RetentionRules(),
        completed: Wake
    ) throws {
        let opened = Mailbox<(any Error)?>(capacity: 1)
        let made = try OwnedThread("spool") { [self] in
            do {
                var writer = try SpoolWriter(
                    directory: directory,
                    durability: durability,
                    mending: true
                )
                tell(writer.findings, directory)
                let checkpointer = try Checkpointer(directory: directory)
                let compactor = try Compactor(
                    directory: directory,
                    limits: compaction,
                    rules: retention
                )
                self.checkpointer.withLock { $0 = checkpointer }
                self.compactor.withLock { $0 = compactor }
                _ = opened.trySend(nil)
                run(&writer, checkpointer, compactor, completed)
                // The writer is the last to close the spool.
                compactor.stop()
                checkpointer.stop()
            } catch {
                _ = opened.trySend(error)
            }
        }
        thread.withLock { $0 = made }
        if let failure = opened.receive() ?? nil { throw failure }
    }

    /// What was found damaged when the spool was opened.
    var findings: [SpoolFinding] { found.withLock { $0 } }

    /// Says what was found, once.
    private func tell(_ findings: [SpoolFinding], _ directory: String) {
        for finding in findings {
            StandardError.line("intel: open spool '\(directory)': \(finding)")
        }
        found.withLock { $0 = findings }
    }

    /// Hands a commit over; false if too many wait.
    func send(_ consignment: Consignment) -> Bool {
        inbox.trySend(consignment)
    }

    /// Commits that are on the disk since the last call.
    func takeCompleted() -> [Consignment] {
        done.withLock { done in
            defer { done = [] }
            return done
        }
    }

    /// What the thread has done so far.
    var figures: Figures {
        var figures = figuresBox.withLock { $0 }
        if let compactor = compactor.withLock({ $0 }) { figures.compaction = compactor.figures }
        if let checkpointer = checkpointer.withLock({ $0 }) {
            figures.logBytes = checkpointer.logBytes
            figures.logHeldBytes = UInt64(checkpointer.heldBytes)
            figures.checkpointsHeld = UInt64(checkpointer.busy)
        }
        return figures
    }

    /// Writes what is in the mailbox and ends; a commit that fails is given up.
    func stop() {
        mustGiveUp.store(true, ordering: .sequentiallyConsistent)
        inbox.close()
        thread.withLock { $0 }?.join()
    }

    private func run(
        _ writer: inout SpoolWriter,
        _ checkpointer: Checkpointer,
        _ compactor: Compactor,
        _ completed: Wake
    ) {
        while true {
            guard let consignment = inbox.receive() else {
                if inbox.isClosed { return }
                continue
            }
            guard commit(consignment, &writer, compactor) else { return }
            checkpointer.nudge()
            let records = consignment.commit.records
            compactor.nudge(bytes: records.payloadBytes, records: records.count)
            done.withLock { $0.append(consignment) }
            completed.ring()
        }
    }

    private func commit(
        _ consignment: Consignment,
        _ writer: inout SpoolWriter,
        _ compactor: Compactor
    ) -> Bool {
        var pause = try? Wake()
        while true {
            do {
                _ = try writer.commit(consignment.commit)
                figuresBox.withLock { figures in
                    figures.storedRecords += UInt64(consignment.commit.records.count)
                    figures.commits += 1
                    figures.failure = nil
                }
                return true
            } catch {
                let isNews = figuresBox.withLock { figures in
                    defer { figures.failure = "\(error)" }
                    figures.failedCommits += 1
                    return figures.failure == nil
                }
                if error.kind == .full { compactor.makeRoom() }
                if isNews { tell(error) }
                if mustGiveUp.load(ordering: .sequentiallyConsistent) { return false }
                if pause == nil { pause = try? Wake() }
                pause?.wait(nanoseconds: 1_000_000_000)
            }
        }
    }

    private func tell(_ failure: SpoolError) {
        let now = Clock.system.boot()
        let last = told.load(ordering: .relaxed)
        guard last == 0 || now > last + Self.toldAgainAfter else { return }
        told.store(now, ordering: .relaxed)
        StandardError.line("intel: \(failure), retrying every second")
    }
}
