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

    /// Makes it where it is missing and twice its size is free; true if it is there.
    func make() -> Bool {
        if bytes >= Int64(Limits.ballastBytes) { return true }
        guard let disk = try? DiskSpace(at: Files.parent(of: path)),
            disk.free >= 2 * UInt64(Limits.ballastBytes) + disk.total / 20
        else { return false }
        return (try? Files.reserve(path, bytes: Int64(Limits.ballastBytes))) != nil
    }

    /// Gives its room back.
    func release() {
        try? Files.remove(path)
    }
}
