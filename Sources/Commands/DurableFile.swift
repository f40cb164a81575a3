internal import Glibc
internal import LinuxIO

/// Makes files survive a power cut.
enum DurableFile {
    /// Waits until the bytes of an open file are on the disk.
    ///
    /// What cannot be synced, such as a pipe, is passed over.
    static func sync(_ file: borrowing FileDescriptor, _ path: String) throws(SystemError) {
        if fsync(file.raw) != 0, errno != EINVAL { throw SystemError("sync", path) }
    }

    /// Waits until the name of `path` is on the disk.
    static func syncFolder(of path: String) throws(SystemError) {
        let folder = try Files.openToRead(Files.parent(of: path))
        try sync(folder, Files.parent(of: path))
    }
}
