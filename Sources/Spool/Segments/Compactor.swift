internal import LinuxIO
internal import SQLite
internal import Synchronization

/// Moves records into the cold tier, on a thread and a connection of its own, at the lowest
/// priority, so that no commit waits for it but for the moment of one short transaction.
///
/// Memory for it is there only while it works. It can be ended at any moment: see `Compaction`.
public final class Compactor: Sendable {
    /// What it has done so far.
    public struct Figures: Sendable {
        /// Segments made.
        public var segments = 0
        /// Records in them.
        public var records: UInt64 = 0
        /// Payload bytes in them.
        public var rawBytes: UInt64 = 0
        /// Bytes of their files.
        public var fileBytes: UInt64 = 0
        /// Files in the folder of segments that are nobody's.
        public var strays = 0
        /// Why the last attempt failed; nil while all is well.
        public var failure: String?
        /// Records that retention has removed.
        public var removedRecords: UInt64 = 0
        /// Bytes of them.
        public var removedBytes: UInt64 = 0
        /// Bytes of everything in the spool's folder when retention last looked, and what they may
        /// be; 0 before that.
        public var bytes: UInt64 = 0
        /// See `bytes`.
        public var bytesMax: UInt64 = 0
        /// Why the last removal failed; nil while all is well.
        public var retentionFailure: String?
        /// What somebody should look at of the bounds of the spool.
        public var retentionWarnings: [String] = []

        /// Nothing has happened yet.
        public init() {}
    }

    private let shared: Shared
    private let thread: OwnedThread

    /// What the thread and its owner both see.
    private final class Shared: Sendable {
        let bell: Wake
        let isStopping = Atomic(false)
        /// What was committed since the thread last looked at the hot tier.
        let bytes = Atomic(0)
        let batches = Atomic(0)
        /// A commit has found no room.
        let isFull = Atomic(false)
        let figures = Mutex(Figures())

        init(bell: Wake) {
            self.bell = bell
        }

        var mustStop: Bool { isStopping.load(ordering: .acquiring) }
        /// Compaction must end: for good, or for retention to make room.
        var mustYield: Bool { mustStop || isFull.load(ordering: .relaxed) }
    }

    /// How long it waits after a failure, ns.
    private static let pause: UInt64 = 10_000_000_000

    /// Starts it for the spool in `directory`, whose writer is this process.
    public init(
        directory: String,
        limits: CompactionLimits = CompactionLimits(),
        rules: RetentionRules = RetentionRules()
    ) throws(SpoolError) {
        do {
            let shared = Shared(bell: try Wake())
            thread = try OwnedThread("compact") {
                OwnedThread.yieldToOthers()
                var watch = HotWatch(directory, limits)
                var keeper = Keeper(directory, rules, limits) { shared.mustStop }
                while !shared.mustStop {
                    Self.keep(&keeper, shared, directory)
                    Self.turn(&watch, keeper.patience, shared)
                }
            }
            self.shared = shared
        } catch {
            throw SpoolError("start compaction of spool", directory, error)
        }
    }

    deinit {
        stop()
    }

    /// Tells that a commit with so many payload bytes was made.
    ///
    /// Never blocks; any thread.
    public func nudge(bytes: Int, records: Int) {
        let weight = bytes + records * SpoolLimits.recordBytes
        shared.bytes.wrappingAdd(weight, ordering: .relaxed)
        shared.batches.wrappingAdd(1, ordering: .relaxed)
        shared.bell.ring()
    }

    /// Tells that a commit found no room: old records go at once, if there are any.
    ///
    /// Never blocks; any thread.
    public func makeRoom() {
        shared.isFull.store(true, ordering: .releasing)
        shared.bell.ring()
    }

    /// Ends the thread and waits for it; what is not published is given up.
    ///
    /// Calling it again does nothing.
    public func stop() {
        shared.isStopping.store(true, ordering: .releasing)
        shared.bell.ring()
        thread.join()
    }

    /// What it has done so far; any thread.
    public var figures: Figures { shared.figures.withLock { $0 } }

    /// Removes what the rules do not keep, if it is time.
    private static func keep(_ keeper: inout Keeper, _ shared: Shared, _ directory: String) {
        guard keeper.isDue(isFull: shared.isFull.load(ordering: .relaxed)) else { return }
        do {
            guard let lock = try SegmentLock.tryTake(directory) else {
                // Somebody removes by hand.
                keeper.wait(nanoseconds: SegmentLock.pause)
                _ = shared.bell.wait(nanoseconds: SegmentLock.pause)
                return
            }
            let isFull = shared.isFull.exchange(false, ordering: .acquiring)
            keeper.run(isFull: isFull)
            _ = consume lock
        } catch {
            keeper.wait(nanoseconds: pause)
            let failure = "\(SpoolError("apply retention to spool", directory, error))"
            shared.figures.withLock { $0.retentionFailure = failure }
            return
        }
        let found = keeper.figures
        shared.figures.withLock {
            $0.removedRecords = found.removedRecords
            $0.removedBytes = found.removedBytes
            $0.bytes = found.last?.bytes ?? 0
            $0.bytesMax = found.last?.bytesMax ?? 0
            $0.retentionFailure = found.failure
            $0.retentionWarnings = found.last?.warnings ?? []
        }
    }

    /// Waits until there may be something to do, and does it.
    private static func turn(
        _ watch: inout HotWatch,
        _ patience: UInt64,
        _ shared: Shared
    ) {
        if !watch.isDue {
            shared.bell.wait(nanoseconds: min(patience, watch.patience))
            watch.add(
                bytes: shared.bytes.exchange(0, ordering: .relaxed),
                batches: shared.batches.exchange(0, ordering: .relaxed)
            )
            return
        }
        do {
            guard let lock = try SegmentLock.tryTake(watch.directory) else {
                // Somebody removes by hand.
                _ = shared.bell.wait(nanoseconds: SegmentLock.pause)
                return
            }
            var compaction = try Compaction(
                directory: watch.directory,
                limits: watch.limits,
                shouldStop: { shared.mustYield }
            )
            let strays = compaction.strays.count
            var isOld = watch.isOld
            while !shared.mustYield, let made = try compaction.step(isOld: isOld) {
                isOld = false
                shared.figures.withLock { $0.add(made) }
            }
            watch.note(try compaction.hotSize())
            shared.figures.withLock {
                $0.strays = strays
                $0.failure = nil
            }
            _ = consume lock
        } catch {
            let failure = SpoolError("compact spool", watch.directory, error)
            if shared.mustYield { return }
            shared.figures.withLock { $0.failure = "\(failure)" }
            let end = Clock.system.boot() + pause
            while !shared.mustStop, !shared.isFull.load(ordering: .relaxed),
                Clock.system.boot() < end
            {
                shared.bell.wait(nanoseconds: end - min(end, Clock.system.boot()) + 1)
            }
        }
    }
}

extension Compactor.Figures {
    fileprivate mutating func add(_ made: Compaction.Made) {
        segments += 1
        records += UInt64(made.records)
        rawBytes += UInt64(made.raw)
        fileBytes += UInt64(clamping: made.bytes)
    }
}

/// How large the hot tier is about, without looking at each commit.
private struct HotWatch {
    let directory: String
    let limits: CompactionLimits
    /// Nil until somebody has looked.
    private var bytes: Int?
    private var batches = 0
    /// The oldest batch, and when it was first seen to be the oldest (boot time, ns).
    private var oldest: Int64?
    private var since: UInt64 = 0
    /// True if something was committed since the last look: without that another look is in vain.
    private var hasNews = true

    init(_ directory: String, _ limits: CompactionLimits) {
        self.directory = directory
        self.limits = limits
    }

    /// True if it is worth a look.
    var isDue: Bool {
        guard let bytes else { return true }
        return hasNews && (bytes >= limits.hotBytes || batches >= limits.hotBatches) || isOld
    }

    /// True if the oldest batch has waited long enough, and is not alone.
    var isOld: Bool {
        guard let bytes, bytes >= limits.keptBytes + limits.smallBytes else { return false }
        return Clock.system.boot() >= since + limits.age
    }

    /// How long the next look can wait, ns.
    var patience: UInt64 {
        max(1_000_000_000, limits.age / 8)
    }

    mutating func add(bytes more: Int, batches count: Int) {
        bytes = (bytes ?? 0) + more
        batches += count
        if count > 0 { hasNews = true }
    }

    /// Takes in what a look has found.
    mutating func note(_ size: (bytes: Int, batches: Int, oldest: Int64?)) {
        let now = Clock.system.boot()
        // What could not be moved is tried again after as long a time.
        if oldest != size.oldest || now >= since + limits.age { since = now }
        bytes = size.bytes
        batches = size.batches
        oldest = size.oldest
        hasNews = false
    }
}
