internal import LinuxIO
internal import Telemetry

/// A file that holds room on the disk for the moment when there is none: what removes records has
/// to write a little first.
struct Ballast {
    let path: String

    init(spool: String) {
        path = spool + "/ballast"
    }

    var bytes: Int64 { Files.size(path) }

    /// What is to be free for it to be made: nothing, if it is there.
    func missing(on disk: DiskSpace) -> UInt64 {
        bytes > 0 ? 0 : Self.size(on: disk)
    }

    /// Makes it where it is missing and there is room beside what is to stay free.
    func make(beside reserve: UInt64) {
        guard let disk = try? DiskSpace(at: Files.parent(of: path)), bytes == 0 else { return }
        let size = Self.size(on: disk)
        guard disk.free >= size + reserve else { return }
        try? Files.reserve(path, bytes: Int64(size))
    }

    /// A fiftieth of a small file system.
    private static func size(on disk: DiskSpace) -> UInt64 {
        min(UInt64(Limits.ballastBytes), max(256 << 10, disk.total / 50))
    }

    /// Gives its room back.
    func release() {
        try? Files.remove(path)
    }
}
