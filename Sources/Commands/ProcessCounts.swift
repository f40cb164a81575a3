internal import LinuxIO

/// How many processes there are, and what they do.
struct ProcessCounts: Equatable {
    /// Processes of which the state is looked up one by one; above it zombies are not counted.
    static let lookedAtMax = 4096

    /// Of /proc/stat; nil where the kernel does not tell.
    var running: UInt64?
    /// Waiting for the disk or the like.
    var blocked: UInt64?
    /// Started since boot.
    var started: UInt64?
    /// Threads of all processes, of /proc/loadavg.
    var threads: UInt64?
    /// Of the folders in /proc.
    var total: UInt64?
    /// Ended, and not yet taken note of by their parents.
    var zombies: UInt64?

    /// Reads what `stat` and `loadavg` say.
    init(stat: [Substring], loadavg: [Substring]) {
        for line in stat {
            let fields = line.split(separator: " ")
            guard fields.count == 2 else { continue }
            switch fields[0] {
            case "procs_running": running = UInt64(fields[1])
            case "procs_blocked": blocked = UInt64(fields[1])
            case "processes": started = UInt64(fields[1])
            default: break
            }
        }
        let load = loadavg.first?.split(separator: " ") ?? []
        if load.count >= 4 {
            let parts = load[3].split(separator: "/")
            if parts.count == 2 { threads = UInt64(parts[1]) }
        }
    }

    /// Counts the folders of processes in `root` (`/proc`).
    mutating func count(in root: String) {
        let names = Files.names(in: root).filter {
            $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard !names.isEmpty else { return }
        total = UInt64(names.count)
        guard names.count <= Self.lookedAtMax else { return }
        zombies = UInt64(
            names.count { name in
                guard let bytes = try? Files.contents(root + "/\(name)/stat", limit: 512) else {
                    return false
                }
                return Self.state(String(decoding: bytes, as: UTF8.self)) == "Z"
            }
        )
    }

    /// The letter of the state in `812 (name) S 1 …`; the name may hold anything, brackets too.
    static func state(_ stat: String) -> Character? {
        guard let bracket = stat.lastIndex(of: ")") else { return nil }
        return stat[stat.index(after: bracket)...].first { $0 != " " }
    }
}
