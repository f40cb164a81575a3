internal import CLinux
internal import Glibc

/// Paths: the few things that are done to files and folders by name.
public enum Files {
    /// Opens a file for reading.
    public static func openToRead(_ path: String) throws(SystemError) -> FileDescriptor {
        try open(path, O_RDONLY | O_CLOEXEC)
    }

    /// Opens a file for writing, made anew (cut to nothing if it exists) with `mode`.
    public static func create(_ path: String, mode: UInt32 = 0o644) throws(SystemError)
        -> FileDescriptor
    {
        try open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    }

    /// Opens a file for writing at its end, made with `mode` if it does not exist.
    public static func openToAppend(_ path: String, mode: UInt32 = 0o644) throws(SystemError)
        -> FileDescriptor
    {
        try open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode)
    }

    /// All bytes of a file, at most `limit`.
    public static func contents(_ path: String, limit: Int = 64 << 20) throws(SystemError)
        -> [UInt8]
    {
        let file = try openToRead(path)
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while all.count < limit {
            let count = try Descriptor.read(file.raw, into: &chunk)
            if count == 0 { break }
            all.append(contentsOf: chunk[..<min(count, limit - all.count)])
        }
        return all
    }

    /// Like `contents`, of a file that nobody but its owner can change.
    ///
    /// - Throws: EACCES if the owner is none of `owners`, or others may write to it.
    public static func trustedContents(_ path: String, owners: [UInt32], limit: Int)
        throws(SystemError) -> [UInt8]
    {
        let file = try openToRead(path)
        var info = stat()
        guard fstat(file.raw, &info) == 0 else { throw SystemError("stat", path) }
        guard owners.contains(info.st_uid), info.st_mode & 0o022 == 0,
            info.st_mode & S_IFMT == S_IFREG
        else { throw SystemError("trust", path, code: EACCES) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while all.count <= limit {
            let count = try Descriptor.read(file.raw, into: &chunk)
            if count == 0 { return all }
            all.append(contentsOf: chunk[..<count])
        }
        throw SystemError("read", path, code: EFBIG)
    }

    /// True if nobody but user 0 and `owner` can put anything into a folder, or in its place.
    ///
    /// The folder above is believed: in a common one (/tmp) nobody can replace another's folder.
    public static func isTrusted(folder: String, owner: UInt32) -> Bool {
        var info = stat()
        // Not what a link leads to: a link is the work of whoever owns it.
        return lstat(folder, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
            && [0, owner].contains(info.st_uid) && info.st_mode & 0o022 == 0
    }

    /// Replaces a file's contents; not atomic.
    public static func write(_ text: String, to path: String, mode: UInt32 = 0o644)
        throws(SystemError)
    {
        let file = try create(path, mode: mode)
        try Descriptor.write(file.raw, Array(text.utf8))
    }

    /// Makes a folder and those above it; one that exists is fine and keeps its mode.
    public static func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        if path.isEmpty || path == "/" || exists(path) { return }
        let parent = parent(of: path)
        if parent != path { try makeFolder(parent, mode: mode) }
        if mkdir(path, mode) != 0, errno != EEXIST { throw SystemError("make folder", path) }
    }

    /// True if there is something under this path.
    public static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// True if this process may read what is under this path.
    public static func isReadable(_ path: String) -> Bool {
        access(path, R_OK) == 0
    }

    /// Size in bytes; 0 if there is no such file.
    public static func size(_ path: String) -> Int64 {
        var info = stat()
        return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }

    /// Removes a file; one that does not exist is fine.
    public static func remove(_ path: String) throws(SystemError) {
        if unlink(path) != 0, errno != ENOENT { throw SystemError("remove", path) }
    }

    /// Removes a folder with all that is in it, as `rm -r` does.
    public static func removeTree(_ path: String) {
        for name in names(in: path) {
            let child = path + "/" + name
            var info = stat()
            let isFolder = lstat(child, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
            if isFolder { removeTree(child) } else { unlink(child) }
        }
        rmdir(path)
    }

    /// Bytes of all plain files in a folder and those below it; links are not followed.
    public static func treeSize(_ path: String) -> UInt64 {
        var total: UInt64 = 0
        for name in names(in: path) {
            let child = path + "/" + name
            var info = stat()
            guard lstat(child, &info) == 0 else { continue }
            switch info.st_mode & S_IFMT {
            case S_IFDIR: total += treeSize(child)
            case S_IFREG: total += UInt64(max(0, info.st_size))
            default: continue
            }
        }
        return total
    }

    /// Renames over whatever has the new name.
    public static func rename(_ old: String, to new: String) throws(SystemError) {
        guard Glibc.rename(old, new) == 0 else { throw SystemError("rename to '\(new)'", old) }
    }

    /// Makes a file of `bytes` bytes that the file system has room for.
    public static func reserve(_ path: String, bytes: Int64) throws(SystemError) {
        let file = try open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        let code = posix_fallocate(file.raw, 0, off_t(bytes))
        if code != 0 {
            unlink(path)
            throw SystemError("reserve", path, code: code)
        }
    }

    /// Waits until a file's bytes, or a folder's names, are on the disk.
    public static func sync(_ path: String) throws(SystemError) {
        let file = try openToRead(path)
        guard fsync(file.raw) == 0 else { throw SystemError("sync", path) }
    }

    /// Waits until the names of the folders that lead to `path` are on the disk, as far as its own
    /// file system goes.
    ///
    /// One that this user may not read, or that cannot be synced, is passed over.
    public static func syncFolders(above path: String) throws(SystemError) {
        var folder = path
        let device = device(of: path)
        while parent(of: folder) != folder {
            folder = parent(of: folder)
            if self.device(of: folder) != device { return }
            do throws(SystemError) {
                try sync(folder)
            } catch {
                guard [EACCES, EPERM, EINVAL, EROFS].contains(error.code) else { throw error }
            }
        }
    }

    private static func device(of path: String) -> dev_t? {
        var info = stat()
        return stat(path, &info) == 0 ? info.st_dev : nil
    }

    /// Names in a folder, sorted, without `.` and `..`; none if it cannot be read.
    public static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { found.append(name) }
        }
        return found.sorted()
    }

    /// The folder that holds `path`: everything before the last slash, `.` if there is none.
    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of `path`.
    public static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// A new, empty folder below `place`, `$TMPDIR` or /tmp, for this user only.
    public static func makeTemporaryFolder(
        _ prefix: String,
        in place: String? = nil
    ) throws(SystemError) -> String {
        let base = place ?? Environment["TMPDIR"] ?? "/tmp"
        var template = Array((base + "/" + prefix + "-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make folder", base) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Gives a file to whoever owns `other`, where this process is root and that is somebody else.
    public static func give(_ path: String, toOwnerOf other: String) throws(SystemError) {
        var (info, own) = (stat(), stat())
        guard geteuid() == 0, stat(other, &info) == 0, stat(path, &own) == 0,
            info.st_uid != own.st_uid || info.st_gid != own.st_gid
        else { return }
        guard chown(path, info.st_uid, info.st_gid) == 0 else { throw SystemError("chown", path) }
    }

    /// Takes an exclusive lock on a folder that lasts as long as the descriptor.
    ///
    /// - Throws: EWOULDBLOCK (`wouldBlock`) if another process, or another descriptor, holds it.
    public static func lock(folder path: String) throws(SystemError) -> FileDescriptor {
        let folder = try open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if clinux_lock(folder.raw) != 0 { throw SystemError("lock", path) }
        return folder
    }

    /// Opens (and makes) `path` and takes an exclusive lock that lasts as long as the descriptor.
    ///
    /// - Throws: EWOULDBLOCK (`wouldBlock`) if another process holds it.
    public static func lock(_ path: String, mode: UInt32 = 0o644) throws(SystemError)
        -> FileDescriptor
    {
        let file = try open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        if clinux_lock(file.raw) != 0 { throw SystemError("lock", path) }
        return file
    }

    /// Cuts an open file to nothing and writes `text` as its whole contents.
    public static func replaceContents(_ file: borrowing FileDescriptor, with text: String)
        throws(SystemError)
    {
        guard ftruncate(file.raw, 0) == 0, lseek(file.raw, 0, SEEK_SET) == 0 else {
            throw SystemError("truncate")
        }
        try Descriptor.write(file.raw, Array(text.utf8))
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: UInt32 = 0)
        throws(SystemError) -> FileDescriptor
    {
        let raw = Glibc.open(path, flags, mode)
        guard raw >= 0 else { throw SystemError("open", path) }
        return FileDescriptor(owning: raw)
    }
}
