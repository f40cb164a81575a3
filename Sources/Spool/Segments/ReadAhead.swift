internal import LinuxIO
internal import Synchronization

/// Unpacks cold batches on a second thread, ahead of a walk that is going to want them.
///
/// Invariants:
/// 1. At most `ahead` batches are with the thread, and as many, none of the rare large ones, were
///    unpacked by the walk's while it would have waited, and not yet taken: memory stays flat.
/// 2. A batch is unpacked once, by whoever comes to it first.
/// 3. What fails here is left to the walk, which tries itself and reports.
///
/// The walk's thread owns it; the second thread ends with it.
final class ReadAhead {
    private static let ahead = 3
    /// Fewer batches than this are unpacked sooner than a thread starts.
    private static let batchesMin = 4

    private let worker: Worker
    /// What has not been taken.
    private var orders: [BatchName: Order] = [:]
    /// What nobody is at, the next one last.
    private var line: [Order] = []
    /// Of those not taken: with the thread, and done while waiting for it.
    private var counts = (given: 0, helped: 0)

    /// A batch that will be wanted, as the walk's thread knows it.
    private final class Order {
        let job: Job
        let row: Scan.Row
        var place = Place.inLine

        enum Place { case inLine, given, helped }

        init(_ job: Job, _ row: Scan.Row) {
            self.job = job
            self.row = row
        }
    }

    /// Starts the thread; nil where that fails, or there is one processor only.
    init?(_ query: Query, _ catalog: Catalog, withPayload: Bool) {
        // What tests payloads needs them.
        let withPayload = withPayload || query.conditions.payload != nil
        guard Environment.processorCount > 1,
            let worker = try? Worker(query, catalog, withPayload: withPayload)
        else { return nil }
        self.worker = worker
    }

    deinit {
        worker.stop()
    }

    /// Hands batches of a segment to `ahead`, in the order in which they will be wanted; starts one
    /// where there are enough of them.
    static func add(
        _ rows: [Scan.Row],
        to ahead: inout ReadAhead?,
        _ scan: Scan,
        withPayload: Bool
    ) {
        if ahead == nil, rows.count >= batchesMin {
            ahead = ReadAhead(scan.query, scan.catalog, withPayload: withPayload)
        }
        ahead?.add(rows)
    }

    private func add(_ rows: [Scan.Row]) {
        var more: [Order] = []
        for row in rows {
            guard case .cold(let file) = row.place else { continue }
            let order = Order(Job(path: file.path, row: row.row), row)
            orders[row.name] = order
            more.append(order)
        }
        line = more.reversed() + line
        give()
    }

    /// What a batch unpacked to, where the thread came to it first.
    ///
    /// Where the thread is at it, `unpack` is called with batches that will be wanted later: to
    /// sleep and be woken takes as long as half a batch.
    func take(_ row: Scan.Row, _ unpack: (Scan.Row) -> Ahead) -> Ahead? {
        guard let order = orders.removeValue(forKey: row.name) else { return nil }
        switch order.place {
        case .inLine: break
        case .given: counts.given -= 1
        case .helped: counts.helped -= 1
        }
        defer { give() }
        if order.job.claim() { return nil }
        while true {
            if let outcome = order.job.outcome { return outcome.isSound ? outcome : nil }
            if counts.helped < Self.ahead, line.last?.row.row.raw ?? .max <= ColumnLimits.rawMax,
                let later = line.popLast()
            {
                guard later.job.claim() else { continue }
                later.place = .helped
                counts.helped += 1
                later.job.finish(unpack(later.row))
            } else {
                worker.finished.wait()
            }
        }
    }

    private func give() {
        while counts.given < Self.ahead, let next = line.popLast() {
            if next.job.isClaimed { continue }
            guard worker.inbox.trySend(next.job) else { return line.append(next) }
            next.place = .given
            counts.given += 1
        }
    }
}

/// What the second thread has found in a batch.
struct Ahead: Sendable {
    /// Nil where nothing matches.
    var unpacked: Unpacked?
    /// False where it could not be read.
    var isSound = true

    /// Nothing, of a batch that could not be read.
    static let failed = Ahead(isSound: false)

    private init(isSound: Bool) { self.isSound = isSound }

    /// What `unpack` gives.
    init(_ unpack: () throws -> Unpacked?) {
        do { unpacked = try unpack() } catch { isSound = false }
    }
}

/// One batch to unpack.
private final class Job: Sendable {
    let path: String
    let row: BatchRow
    private let isTaken = Atomic(false)
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
    private let thread = Mutex<OwnedThread?>(nil)

    init(_ query: Query, _ catalog: Catalog, withPayload: Bool) throws {
        finished = try Wake()
        let made = try OwnedThread("unpack") { [inbox, finished] in
            // In a program that has loaded the extension, signals are for its own threads.
            Signals.blockAll()
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
            var found = Ahead.failed
            if file?.path != job.path { file = try? SegmentFile(job.path) }
            if let file, let decoder {
                let reading = ColdReading(query, catalog, withPayload: withPayload)
                found = Ahead { try reading.unpack(job.row, file, decoder) }
            }
            job.finish(found)
            finished.ring()
        }
    }
}
