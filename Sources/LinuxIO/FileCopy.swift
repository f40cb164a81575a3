internal import Glibc

extension Files {
    /// Gives a file a second name.
    ///
    /// - Throws: `cannotLink` where the file systems differ, or links are not allowed.
    public static func link(_ path: String, to name: String) throws(SystemError) {
        guard Glibc.link(path, name) == 0 else { throw SystemError("link to '\(name)'", path) }
    }

    /// Copies a file's bytes to `target`, made anew with `mode`, and waits until they are on the
    /// disk.
    public static func copy(_ path: String, to target: String, mode: UInt32 = 0o640)
        throws(SystemError)
    {
        let source = try openToRead(path)
        let made = try create(target, mode: mode)
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try Descriptor.read(source.raw, into: &chunk)
            if count == 0 { break }
            let failure = chunk.withUnsafeBytes { bytes -> SystemError? in
                do throws(SystemError) {
                    try made.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
        }
        guard fsync(made.raw) == 0 else { throw SystemError("sync", target) }
    }

    /// Gives a file a second name, or where that cannot be makes a copy of it.
    public static func linkOrCopy(_ path: String, to name: String) throws(SystemError) {
        do throws(SystemError) {
            try link(path, to: name)
        } catch {
            guard error.cannotLink else { throw error }
            try copy(path, to: name)
        }
    }

    /// True if a process holds the lock that `lock` takes; nothing is made or changed.
    public static func isLocked(_ path: String) -> Bool {
        guard let file = try? openToRead(path) else { return false }
        return flock(file.raw, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}

extension SystemError {
    /// True where a file cannot have a second name there: another file system, or not allowed.
    public var cannotLink: Bool {
        [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(code)
    }
}
