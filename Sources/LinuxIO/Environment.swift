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

    /// Lets this process open as many descriptors as its hard limit allows.
    ///
    /// The soft limit of 1,024 is there for programs that use select(2), which none of ours does.
    ///
    /// - Returns: how many it may have open from now on.
    @discardableResult
    public static func raiseDescriptorLimit() -> UInt64 {
        let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(descriptors, &limit) == 0 else { return 0 }
        if limit.rlim_cur < limit.rlim_max {
            let before = limit.rlim_cur
            limit.rlim_cur = limit.rlim_max
            if setrlimit(descriptors, &limit) != 0 { return UInt64(before) }
        }
        return UInt64(limit.rlim_cur)
    }

    /// The one socket that systemd hands to this process (LISTEN_PID, LISTEN_FDS); nil without one.
    public static var handedSocket: Int32? {
        guard Self["LISTEN_PID"] == String(pid), Self["LISTEN_FDS"] == "1" else { return nil }
        return 3
    }

    /// When a process began, in the kernel's ticks since boot; 0 where that cannot be read.
    public static func startTime(pid: Int32) -> UInt64 {
        guard let bytes = try? Files.contents("/proc/\(pid)/stat", limit: 4096),
            // The program's name is in parentheses, and may hold any of what follows it.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return 0 }
        let fields = bytes[end...].split(separator: UInt8(ascii: " "))
        return fields.count > 20 ? UInt64(String(decoding: fields[20], as: UTF8.self)) ?? 0 : 0
    }

    /// The uid of a user's name; nil if there is none.
    public static func uid(named name: String) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            return nil
        }
        return entry.pw_uid
    }

    /// The gid of a group's name; nil if there is none.
    public static func gid(named name: String) -> UInt32? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            return nil
        }
        return entry.gr_gid
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
