internal import LinuxIO
internal import SQLite
internal import Synchronization
internal import Telemetry

/// Reads every byte of a spool and says what is damaged, beside a running agent or without one.
///
/// Invariants:
/// 1. What is looked at is listed in one short transaction; no other lasts longer than it takes to
///    copy one batch, or to check the pages of hot.db.
/// 2. What is listed and not found is looked up again: it is damage only if it is still listed.
///    Where a compaction has moved it, the segments that came of it are looked at in another round.
/// 3. Each thread holds one batch at a time, so that memory does not grow with the history.
public struct Verifier {
    private let directory: String
    private let threads: Int
    private let isDeep: Bool

    /// A verification of the spool in `directory`.
    ///
    /// - Parameters:
    ///   - threads: how many read at the same time; nil for one a processor.
    ///   - isDeep: true to put every payload together too, and compare it with its checksum. That
    ///     was done before a segment was published, and the bytes have checksums of their own: it
    ///     finds what those do not, faults of the program, and takes some four times as long.
    public init(directory: String, threads: Int? = nil, isDeep: Bool = false) {
        self.directory = directory
        self.isDeep = isDeep
        self.threads = max(1, min(threads ?? Environment.processorCount, Self.threadsMax))
    }

    /// More threads than this wait for the disk.
    private static let threadsMax = 16
    /// How often a progress is told, ns.
    private static let pause: UInt64 = 100_000_000
    /// Segments that become part of others faster than they are read cannot be followed for ever.
    private static let roundsMax = 100

    /// Verifies.
    ///
    /// - Parameter progress: told ten times a second the payload bytes that were read, and those
    ///   that there are.
    /// - Throws: where the spool cannot be opened at all; damage is no error.
    public func run(
        progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(SpoolError) -> Verification {
        do {
            var reader = try SpoolReader(directory: directory)
            let first = try reader.scan(Query())
            var found = Verification()
            for name in first.report.names {
                let cause = first.report.reason(name) ?? ""
                found.add(name, records: first.report.records(name), cause)
            }
            var seen: Set<String> = []
            var rest = VerifyJob.all(of: first)
            var catalog = first.catalog
            for round in 0..<Self.roundsMax {
                if round > 0 {
                    let again = try reader.scan(again: first)
                    catalog = again.catalog
                    rest = VerifyJob.all(of: again).filter { job in
                        guard case .segment(let segment) = job else { return false }
                        return !seen.contains(segment.name)
                    }
                }
                if rest.isEmpty { break }
                for case .segment(let segment) in rest { seen.insert(segment.name) }
                let board = VerifyBoard(rest, ended: try Wake())
                let one = try work(board, catalog, progress)
                found.add(one)
                if one.moved == 0 { break }
            }
            found.damages.sort { $0.subject < $1.subject }
            return found
        } catch {
            throw SpoolError("verify spool", directory, error)
        }
    }

    /// Has the threads do the jobs of a board.
    private func work(
        _ board: VerifyBoard,
        _ catalog: Catalog,
        _ progress: (_ done: UInt64, _ total: UInt64) -> Void
    ) throws -> Verification {
        var running: [OwnedThread] = []
        for _ in 0..<min(threads, board.jobs.count) {
            board.start()
            let made = try OwnedThread("verify") { [directory, isDeep] in
                do {
                    var worker = try VerifyWorker(directory, catalog, board, isDeep: isDeep)
                    try worker.work()
                } catch {
                    board.fail(SpoolError("verify spool", directory, error))
                }
                board.end()
            }
            running.append(made)
        }
        while !board.isDone {
            board.ended.wait(nanoseconds: Self.pause)
            progress(board.bytesRead, board.bytes)
        }
        for thread in running { thread.join() }
        return try board.result()
    }
}

/// What one thread does at a time.
enum VerifyJob: Sendable {
    /// Batches of the hot tier.
    case hot([BatchRow])
    /// A segment.
    case segment(SegmentRow)
    /// Pages and books of hot.db.
    case books

    private static let batchesOfOneJob = 16

    /// All that is to be looked at, large things first, so that threads end at the same time.
    static func all(of scan: Scan) -> [VerifyJob] {
        var jobs: [VerifyJob] = [.books]
        var hot: [BatchRow] = []
        for row in scan.rows {
            switch row.place {
            case .segment(let segment): jobs.append(.segment(segment))
            case .hot:
                hot.append(row.row)
                guard hot.count == batchesOfOneJob else { continue }
                jobs.append(.hot(hot))
                hot = []
            case .cold: break
            }
        }
        if !hot.isEmpty { jobs.append(.hot(hot)) }
        return jobs
    }

    var bytes: UInt64 {
        switch self {
        case .hot(let rows): rows.reduce(0) { $0 + UInt64(max(0, $1.raw)) }
        case .segment(let segment): UInt64(max(0, segment.row.raw))
        case .books: 0
        }
    }
}

/// What the threads of a verification share.
final class VerifyBoard: Sendable {
    let jobs: [VerifyJob]
    /// Payload bytes of all jobs.
    let bytes: UInt64
    /// Rung when a thread ends.
    let ended: Wake
    private let next = Atomic(0)
    private let running = Atomic(0)
    private let read = Atomic<UInt64>(0)
    private let found = Mutex(Verification())
    private let failure = Mutex<SpoolError?>(nil)

    init(_ jobs: [VerifyJob], ended: Wake) {
        self.jobs = jobs
        self.ended = ended
        bytes = jobs.reduce(0) { $0 + $1.bytes }
    }

    var isDone: Bool { running.load(ordering: .acquiring) == 0 }
    var bytesRead: UInt64 { read.load(ordering: .relaxed) }

    /// The next job; nil once all are given out.
    func take() -> VerifyJob? {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < jobs.count ? jobs[index] : nil
    }

    func add(read count: Int) {
        read.wrappingAdd(UInt64(max(0, count)), ordering: .relaxed)
    }

    func add(_ one: Verification) {
        found.withLock { $0.add(one) }
    }

    func fail(_ error: SpoolError) {
        failure.withLock { $0 = error }
        // Nobody begins anything new.
        next.store(jobs.count, ordering: .relaxed)
    }

    func start() {
        running.wrappingAdd(1, ordering: .relaxed)
    }

    func end() {
        running.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        ended.ring()
    }

    func result() throws(SpoolError) -> Verification {
        if let error = failure.withLock({ $0 }) { throw error }
        return found.withLock { $0 }
    }
}
