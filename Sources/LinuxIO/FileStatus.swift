internal import Glibc

/// Which file a path leads to: two files never share it at the same time.
public struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// That of the file at `path`; nil if there is none.
    public init?(_ path: String) {
        guard let status = FileStatus(path) else { return nil }
        self = status.identity
    }

    fileprivate init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

/// What the kernel says of a file at one moment.
public struct FileStatus: Sendable {
    /// Which file it is.
    public let identity: FileIdentity
    /// Bytes in it.
    public let size: UInt64
    /// True for a plain file: no folder, pipe, socket or device.
    public let isRegular: Bool
    /// True if some name still leads to it.
    public let hasName: Bool

    /// Of what `path` leads to, links followed; nil if there is nothing or it may not be seen.
    public init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        self.init(info)
    }

    /// Of an open file; nil if `raw` is not open.
    public init?(opened raw: Int32) {
        var info = stat()
        guard fstat(raw, &info) == 0 else { return nil }
        self.init(info)
    }

    private init(_ info: stat) {
        identity = FileIdentity(info)
        size = UInt64(max(0, info.st_size))
        isRegular = info.st_mode & S_IFMT == S_IFREG
        hasName = info.st_nlink > 0
    }
}
