internal import LinuxIO
internal import Synchronization

/// Unpacks cold batches on a second thread, ahead of a walk that is going to want them.
///
/// Invariants:
/// 1. At most `ahead` batches are unpacked or being unpacked and not yet taken: memory stays flat.
/// 2. A batch is unpacked once, by whoever comes to it first.
/// 3. What fails here is left to the walk, which tries itself and reports.
///
/// The walk's thread owns it; the thread ends with it.
final class ReadAhead {
    private static let ahead = 3
    /// Fewer batches than this are unpacked sooner than a thread starts.
    static let batchesMin = 4

    private let worker: Worker
    /// Jobs that have not been taken, by what they unpack.
    private var jobs: [BatchName: Job] = [:]
    /// Jobs that the thread does not know of yet, the next one last.
    private var line: [Job] = []
    private var given = 0

    /// Starts the thread; nil where that fails, or there is one processor only.
    init?(_ query: Query, _ catalog: Catalog, withPayload: Bool) {
        guard Environment.processorCount > 1,
            let worker = try? Worker(query, catalog, withPayload: withPayload)
        else { return nil }
        self.worker = worker
    }

    deinit {
        worker.stop()
    }

    /// Takes in batches of a segment, in the order in which they will be wanted.
    func add(_ rows: [Scan.Row]) {
        var more: [Job] = []
        for row in rows {
            guard case .cold(let file) = row.place else { continue }
            let job = Job(path: file.path, row: row.row)
            jobs[row.name] = job
            more.append(job)
        }
        line = more.reversed() + line
        give()
    }

    /// What a batch unpacked to, where the thread came to it first; waits where it is at it.
    func take(_ row: Scan.Row) -> Ahead? {
        guard let job = jobs.removeValue(forKey: row.name) else { return nil }
        if job.isGiven { given -= 1 }
        defer { give() }
        if job.claim() { return nil }
        while true {
            if let outcome = job.outcome { return outcome.isSound ? outcome : nil }
            worker.finished.wait()
        }
    }

    private func give() {
        while given < Self.ahead, let job = line.popLast() {
            if job.isClaimed { continue }
            guard worker.inbox.trySend(job) else { return line.append(job) }
            job.setGiven()
            given += 1
        }
    }
}

/// What the second thread has found in a batch.
struct Ahead: Sendable {
    /// Nil where nothing matches.
    var unpacked: Unpacked?
    /// False where it could not be read.
    var isSound = true
}

/// One batch to unpack.
private final class Job: Sendable {
    let path: String
    let row: BatchRow
    private let isTaken = Atomic(false)
    private let wasGiven = Atomic(false)
    private let result = Mutex<Ahead?>(nil)

    init(path: String, row: BatchRow) {
        self.path = path
        self.row = row
    }

    /// True for the first who calls it: the job is theirs.
    func claim() -> Bool {
        !isTaken.exchange(true, ordering: .acquiringAndReleasing)
    }

    var isClaimed: Bool { isTaken.load(ordering: .acquiring) }

    /// True once the thread has been told of it.
    var isGiven: Bool { wasGiven.load(ordering: .relaxed) }

    func setGiven() {
        wasGiven.store(true, ordering: .relaxed)
    }

    var outcome: Ahead? { result.withLock { $0 } }

    func finish(_ found: Ahead) {
        result.withLock { $0 = found }
    }
}

/// The thread.
private final class Worker: Sendable {
    let inbox = Mailbox<Job>(capacity: 16)
    /// Rung after each batch.
    let finished: Wake
    private let isStopping = Atomic(false)
    private let thread = Mutex<OwnedThread?>(nil)

    init(_ query: Query, _ catalog: Catalog, withPayload: Bool) throws {
        finished = try Wake()
        let made = try OwnedThread("unpack") { [inbox, finished] in
            Self.work(inbox, finished, query, catalog, withPayload)
        }
        thread.withLock { $0 = made }
    }

    func stop() {
        inbox.close()
        thread.withLock { $0 }?.join()
    }

    private static func work(
        _ inbox: Mailbox<Job>,
        _ finished: Wake,
        _ query: Query,
        _ catalog: Catalog,
        _ withPayload: Bool
    ) {
        let decoder = try? ColumnBatchDecoder()
        var file: SegmentFile?
        while let job = inbox.receive() {
            // What waits in a closed box is not wanted any more.
            if inbox.isClosed { return }
            guard job.claim() else { continue }
            var found = Ahead(isSound: false)
            if file?.path != job.path { file = try? SegmentFile(job.path) }
            if let file, let decoder {
                let reading = ColdReading(query, catalog, withPayload: withPayload)
                do {
                    found = Ahead(unpacked: try reading.unpack(job.row, file, decoder))
                } catch {
                    found = Ahead(isSound: false)
                }
            }
            job.finish(found)
            finished.ring()
        }
    }
}
