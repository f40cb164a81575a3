internal import Glibc

/// How much room a file system has.
public struct DiskSpace: Equatable, Sendable {
    /// Bytes of the whole file system.
    public var total: UInt64
    /// Bytes that this user may still take.
    public var free: UInt64
    /// Files that it can hold, and that this user may still make; 0 where it has no such bound.
    public var files: UInt64 = 0
    /// See `files`.
    public var freeFiles: UInt64 = 0

    /// Room as given.
    public init(total: UInt64, free: UInt64) {
        self.total = total
        self.free = free
    }

    /// Asks the kernel about the file system that holds `path`.
    public init(at path: String) throws(SystemError) {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { throw SystemError("look at disk of", path) }
        let block = UInt64(info.f_frsize)
        total = UInt64(info.f_blocks) &* block
        free = UInt64(info.f_bavail) &* block
        files = UInt64(info.f_files)
        freeFiles = UInt64(info.f_favail)
    }
}
