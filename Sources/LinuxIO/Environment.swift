internal import Glibc

/// Who and where this process is.
public enum Environment {
    /// An environment variable; nil if it is not set or empty.
    public static subscript(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The effective user id.
    public static var uid: UInt32 { geteuid() }
    /// This process's id.
    public static var pid: Int32 { getpid() }

    /// True if a process with this id exists, whoever owns it.
    public static func isRunning(pid: Int32) -> Bool {
        kill(pid, 0) == 0 || errno == EPERM
    }

    /// The path of the running program.
    public static var executable: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return count > 0
            ? String(decoding: buffer[..<count], as: UTF8.self) : CommandLine.arguments[0]
    }

    /// The host's name.
    public static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes of memory that this process holds; 0 if /proc does not tell.
    public static var residentBytes: UInt64 {
        guard let text = try? Files.contents("/proc/self/statm", limit: 256) else { return 0 }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0)
            * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Processors that this process may use.
    public static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
