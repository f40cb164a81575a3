internal import LinuxIO
internal import Telemetry

/// How much a spool may hold, and for how long; what is nil has no bound.
///
/// The oldest records go first. An age is counted from when a record was stored: one from 2099 or
/// 1970 is as old as its arrival.
public struct RetentionRules: Equatable, Sendable {
    /// Records older than this go, ns.
    public var age: UInt64?
    /// Bytes of everything in the spool's folder; nil for `Limits.spoolShare` of the file system.
    public var bytes: UInt64?
    /// Records of both tiers.
    public var records: UInt64?
    /// Bytes of the file system that stay free.
    ///
    /// Nil for `Limits.diskReserve`, and of a small file system an eighth. Twice what a commit
    /// needs stays free in any case.
    public var free: UInt64?
    /// What holds for some peers and kinds; the first that fits counts.
    public var keeps: [KeepRule] = []

    /// Only what protects the disk.
    public init() {}

    /// The shortest age of all; nil where none is set.
    var shortestAge: UInt64? {
        (keeps.compactMap(\.age) + [age].compactMap { $0 }).min()
    }

    /// The bound on bytes where nobody has set one: a tenth of the file system, 64 MiB to 4 GiB.
    func bytes(on disk: DiskSpace) -> UInt64 {
        if let bytes { return bytes }
        let share = disk.total / UInt64(Limits.spoolShare)
        return min(max(share, Limits.spoolBytesLeast), Limits.spoolBytesMost)
    }

    /// The bytes that stay free where nobody has said how many.
    func free(on disk: DiskSpace) -> UInt64 {
        max(free ?? min(Limits.diskReserve, disk.total / 8), 2 * Self.leastFree(on: disk))
    }

    /// With less than this free nothing is committed.
    static func leastFree(on disk: DiskSpace) -> UInt64 {
        min(Limits.diskReserveLeast, disk.total / 16)
    }
}

/// Why records were removed.
public enum RemovalReason: String, Sendable, CaseIterable {
    /// Older than the age that is kept.
    case age
    /// The spool was larger than it may be.
    case size
    /// There were more records than may be, in all or of a peer and kind.
    case records
    /// The file system was too full.
    case disk
}
