internal import LinuxIO

/// What the kernel says of a running process.
public enum ProcessFigures {
    /// Bytes of memory that it holds, shared ones included; 0 if there is no such process.
    public static func residentBytes(_ pid: Int32) -> Int { status(pid, "VmRSS:") << 10 }

    /// Bytes of memory that it holds beside its program: its own and memory files.
    public static func dataBytes(_ pid: Int32) -> Int {
        ownBytes(pid) + (status(pid, "RssShmem:") << 10)
    }

    /// Bytes of memory that are its own.
    public static func ownBytes(_ pid: Int32) -> Int { status(pid, "RssAnon:") << 10 }

    /// Descriptors that it has open; 0 if that cannot be read.
    public static func descriptors(_ pid: Int32) -> Int { Files.names(in: "/proc/\(pid)/fd").count }

    /// Nanoseconds that its threads have run.
    public static func runNanoseconds(_ pid: Int32) -> UInt64 {
        Files.names(in: "/proc/\(pid)/task").reduce(0) { sum, thread in
            let text = (try? Files.contents("/proc/\(pid)/task/\(thread)/schedstat")) ?? []
            let words = String(decoding: text, as: UTF8.self).split(separator: " ")
            return sum + (words.first.flatMap { UInt64($0) } ?? 0)
        }
    }

    private static func status(_ pid: Int32, _ key: String) -> Int {
        let text = String(
            decoding: (try? Files.contents("/proc/\(pid)/status")) ?? [],
            as: UTF8.self
        )
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
