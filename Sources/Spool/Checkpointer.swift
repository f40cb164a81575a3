internal import Basics
internal import LinuxIO
internal import SQLite
internal import Synchronization
internal import Telemetry

/// Copies the write-ahead log into hot.db, on a thread and a connection of its own, so that no
/// commit ever waits for it.
///
/// It runs a passive checkpoint each time the log has grown by `Limits.checkpointBytes`, and tries
/// a truncating one while the log's file is larger than `Limits.walBytesMax`, which only a reader
/// that holds a snapshot for long can bring about. No command of this program does; `heldBytes`
/// tells of others.
public final class Checkpointer: Sendable {
    private let directory: String
    private let bell: Wake
    private let thread: OwnedThread
    private let shared: Shared

    /// What the thread and its owner both see.
    private final class Shared: Sendable {
        let isStopping = Atomic(false)
        let passes = Atomic(0)
        let busy = Atomic(0)
        let heldBytes = Atomic(0)
    }

    /// How often a log that is held is tried again, ns.
    private static let retry: UInt64 = 2_000_000_000

    /// Starts it for the spool in `directory`, which must have been made before.
    public convenience init(directory: String) throws(SpoolError) {
        try self.init(directory: directory, every: Limits.checkpointBytes)
    }

    /// - Parameter bytes: how far the log grows between two passes.
    package init(directory: String, every bytes: Int) throws(SpoolError) {
        do {
            let bell = try Wake()
            let shared = Shared()
            // Opened here once so that a failure is told; the thread opens its own.
            let probe = try Self.open(directory)
            _ = consume probe
            thread = try OwnedThread("checkpoint") { Self.work(directory, bytes, bell, shared) }
            self.directory = directory
            self.bell = bell
            self.shared = shared
        } catch {
            throw SpoolError("start checkpoints of spool", directory, error)
        }
    }

    deinit {
        stop()
    }

    /// Tells that something was committed.
    ///
    /// Never blocks; any thread.
    public func nudge() {
        bell.ring()
    }

    /// Ends the thread and waits for it.
    ///
    /// Calling it again does nothing.
    public func stop() {
        shared.isStopping.store(true, ordering: .releasing)
        bell.ring()
        thread.join()
    }

    /// Checkpoints run so far.
    public var passes: Int { shared.passes.load(ordering: .relaxed) }
    /// Checkpoints so far that a reader or the writer kept from copying everything.
    public var busy: Int { shared.busy.load(ordering: .relaxed) }

    /// Bytes of the log's file.
    public var logBytes: UInt64 { UInt64(clamping: Files.size(Schema.log(directory))) }
    /// Bytes of the log that cannot be copied, since a reader holds a snapshot from before them;
    /// 0 below `Limits.checkpointBytes`.
    public var heldBytes: Int { shared.heldBytes.load(ordering: .relaxed) }

    private static func open(_ directory: String) throws(SQLiteError) -> Database {
        let database = try Database(path: Schema.database(directory), mode: .write)
        try Schema.settleWriter(database, .full)
        // A truncating checkpoint holds the writer up while it waits for readers.
        database.setBusyTimeout(milliseconds: SpoolLimits.truncateTimeout)
        return database
    }

    private static func work(
        _ directory: String,
        _ bytes: Int,
        _ bell: Wake,
        _ shared: Shared
    ) {
        var database = try? open(directory)
        var gauge = LogGauge(directory: directory)
        var next: UInt64 = 0
        while !shared.isStopping.load(ordering: .acquiring) {
            let isHeld = shared.heldBytes.load(ordering: .relaxed) > 0
            if isHeld { bell.wait(nanoseconds: retry) } else { bell.wait() }
            let now = Clock.system.boot()
            let mustRetry = isHeld && now >= next
            let free = (try? DiskSpace(at: directory).free).map { Int64(clamping: $0) } ?? .max
            let isDue = gauge.grown() >= min(Int64(bytes), free / 4)
            guard isDue || mustRetry else { continue }
            // Short of descriptors at first, perhaps.
            if database == nil { database = try? open(directory) }
            // A failure (a full disk, say) shows in the log's size and is tried again later.
            // Copying the log can make hot.db larger by as much: there must be room for that.
            let size = Files.size(Schema.log(directory))
            let isLarge = size > Int64(Limits.walBytesMax) || size > free / 2
            let result = try? database?.checkpoint(isLarge && isDue ? .truncate : .passive)
            gauge.mark()
            next = now + retry
            if let result {
                let held = max(0, result.frames - result.copied) * gauge.frameBytes
                let isMuch = held >= Limits.checkpointBytes
                shared.heldBytes.store(isMuch ? held : 0, ordering: .relaxed)
            }
            shared.passes.add(1, ordering: .relaxed)
            if let result, !result.isBusy, result.copied >= result.frames { continue }
            shared.busy.add(1, ordering: .relaxed)
        }
    }
}
