internal import Glibc
internal import LinuxIO

/// Whether an agent writes a spool right now.
enum RunningAgent {
    /// The pid of the process that holds the spool's lock; nil if none does.
    ///
    /// Only looks, in the kernel's list of locks: trying the lock could make an agent that starts
    /// at this moment believe that another one runs.
    static func find(spool folder: String, locks: String = "/proc/locks") -> Int32? {
        let path = folder + "/lock"
        var info = stat()
        guard stat(path, &info) == 0, let written = writtenPid(path) else { return nil }
        guard let list = try? Files.contents(locks, limit: 4 << 20) else {
            return Environment.isRunning(pid: written) ? written : nil
        }
        // `1: FLOCK  ADVISORY  WRITE 812 08:01:1234567 0 EOF`
        let lines = String(decoding: list, as: UTF8.self).split(separator: "\n")
        for line in lines where line.contains("FLOCK") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, Int32(fields[4]) == written else { continue }
            if fields[5].split(separator: ":").last == "\(info.st_ino)" { return written }
        }
        return nil
    }

    private static func writtenPid(_ path: String) -> Int32? {
        guard let bytes = try? Files.contents(path, limit: 64) else { return nil }
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self))
    }
}
