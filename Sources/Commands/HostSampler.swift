internal import Basics
internal import LinuxIO

/// Reads the machine's state from /proc and /sys.
///
/// What a kernel does not tell is left out; rates (CPU, disks, network) are per interval and start
/// with the second snapshot.
struct HostSampler {
    /// Interfaces, disks and file systems that are told of; a container host has thousands.
    static let itemsMax = 64

    /// Where proc is mounted; tests bring their own.
    private let root: String
    private var lastProcessor: [UInt64] = []
    private var lastDisks: [String: [UInt64]] = [:]
    private var lastNetwork: [String: [UInt64]] = [:]
    private var lastSwapped: [UInt64] = []
    private var lastStarted: UInt64?
    /// Where sysfs is mounted.
    private let system: String

    init(root: String = "/proc", system: String = "/sys") {
        self.root = root
        self.system = system
    }

    /// One snapshot of everything.
    mutating func sample() -> [HostSample] {
        let memory = memoryFigures()
        let samples = [
            processor(), Self.memory(memory), swap(memory), load(), processes(), pressure(),
            uptime(), disks(), network(), fileSystems(), temperatures(),
        ]
        return samples.compactMap { $0 }
    }

    private func lines(_ name: String) -> [Substring] {
        guard let bytes = try? Files.contents(root + "/" + name, limit: 1 << 20) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    /// Shares of the time since the last snapshot, in percent of all processors together.
    private mutating func processor() -> HostSample? {
        let all = lines("stat")
        guard let line = all.first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        // user nice system idle iowait irq softirq steal; guest time is part of user.
        let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { UInt64($0) }
        guard ticks.count == 8 else { return nil }
        defer { lastProcessor = ticks }
        var object = ObjectWriter()
        object.add("processors", UInt64(all.filter { $0.hasPrefix("cpu") }.count - 1))
        if lastProcessor.count == 8 {
            let spent = zip(ticks, lastProcessor).map { $0 > $1 ? $0 - $1 : 0 }
            let total = max(1, spent.reduce(0, +))
            func share(_ part: UInt64) -> Int64 { Int64(clamping: part * 10_000 / total) }
            object.add("busy", hundredths: 10_000 - share(spent[3] + spent[4]))
            object.add("user", hundredths: share(spent[0] + spent[1]))
            object.add("system", hundredths: share(spent[2] + spent[5] + spent[6]))
            object.add("wait", hundredths: share(spent[4]))
            object.add("steal", hundredths: share(spent[7]))
        }
        return HostSample(kind: "host.cpu", payload: object.finished)
    }

    /// What /proc/meminfo says, in bytes.
    private func memoryFigures() -> [Substring: UInt64] {
        var figures: [Substring: UInt64] = [:]
        for line in lines("meminfo") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 1, let kilobytes = UInt64(fields[1]) else { continue }
            figures[fields[0].dropLast()] = kilobytes &* 1024
        }
        return figures
    }

    private static func memory(_ figures: [Substring: UInt64]) -> HostSample? {
        guard let total = figures["MemTotal"] else { return nil }
        var object = ObjectWriter()
        object.add("total", total)
        let names: [(Substring, String)] = [
            ("MemAvailable", "available"), ("MemFree", "free"), ("Buffers", "buffers"),
            ("Cached", "cached"), ("Dirty", "dirty"),
        ]
        for (name, key) in names {
            if let value = figures[name] { object.add(key, value) }
        }
        return HostSample(kind: "host.memory", payload: object.finished)
    }

    /// Space, and the pages that were moved since the last snapshot.
    private mutating func swap(_ figures: [Substring: UInt64]) -> HostSample? {
        guard let total = figures["SwapTotal"] else { return nil }
        var object = ObjectWriter()
        object.add("total", total)
        if let free = figures["SwapFree"] {
            object.add("free", free)
            object.add("used", total > free ? total - free : 0)
        }
        if let cached = figures["SwapCached"] { object.add("cached", cached) }
        let all = lines("vmstat")
        let pages = ["pswpin ", "pswpout "].compactMap { key in
            all.first { $0.hasPrefix(key) }.flatMap { UInt64($0.dropFirst(key.count)) }
        }
        if pages.count == 2, lastSwapped.count == 2 {
            for (index, key) in ["pages_in", "pages_out"].enumerated() {
                let (now, last) = (pages[index], lastSwapped[index])
                object.add(key, now > last ? now - last : 0)
            }
        }
        lastSwapped = pages
        return HostSample(kind: "host.swap", payload: object.finished)
    }

    private mutating func processes() -> HostSample? {
        var counts = ProcessCounts(stat: lines("stat"), loadavg: lines("loadavg"))
        counts.count(in: root)
        var object = ObjectWriter()
        let figures = [
            ("total", counts.total), ("threads", counts.threads), ("running", counts.running),
            ("blocked", counts.blocked), ("zombies", counts.zombies),
        ]
        for (key, value) in figures {
            if let value { object.add(key, value) }
        }
        if let started = counts.started, let lastStarted {
            object.add("started", started > lastStarted ? started - lastStarted : 0)
        }
        lastStarted = counts.started
        return object.isEmpty ? nil : HostSample(kind: "host.processes", payload: object.finished)
    }

    private func temperatures() -> HostSample? {
        let items = Temperatures.read(root: system, limit: Self.itemsMax).map { reading in
            var item = ObjectWriter()
            item.add("chip", reading.chip)
            item.add("label", reading.label)
            item.add("celsius", hundredths: reading.millidegrees / 10)
            return item.finished
        }
        return Self.list("host.temperature", "sensors", items)
    }

    private func load() -> HostSample? {
        guard let fields = lines("loadavg").first?.split(separator: " "), fields.count >= 4 else {
            return nil
        }
        var object = ObjectWriter()
        for (key, text) in zip(["load1", "load5", "load15"], fields) {
            guard let value = Self.hundredths(text) else { return nil }
            object.add(key, hundredths: value)
        }
        let tasks = fields[3].split(separator: "/").compactMap { UInt64($0) }
        if tasks.count == 2 {
            object.add("running", tasks[0])
            object.add("tasks", tasks[1])
        }
        return HostSample(kind: "host.load", payload: object.finished)
    }

    /// Share of the last ten seconds in which some task waited for the resource, in percent.
    private func pressure() -> HostSample? {
        var object = ObjectWriter()
        for resource in ["cpu", "memory", "io"] {
            guard let some = lines("pressure/" + resource).first(where: { $0.hasPrefix("some ") }),
                let field = some.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
                let value = Self.hundredths(field.dropFirst(6))
            else { continue }
            object.add(resource, hundredths: value)
        }
        return object.isEmpty ? nil : HostSample(kind: "host.pressure", payload: object.finished)
    }

    private func uptime() -> HostSample? {
        guard let field = lines("uptime").first?.split(separator: " ").first,
            let value = Self.hundredths(field)
        else { return nil }
        var object = ObjectWriter()
        object.add("seconds", hundredths: value)
        return HostSample(kind: "host.uptime", payload: object.finished)
    }

    /// Bytes and operations of whole disks since the last snapshot.
    private mutating func disks() -> HostSample? {
        var now: [String: [UInt64]] = [:]
        var items: [[UInt8]] = []
        for line in lines("diskstats") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 14, now.count < Self.itemsMax, Self.isWholeDisk(fields[2]) else {
                continue
            }
            let numbers = [3, 5, 7, 9, 12].compactMap { UInt64(fields[$0]) }
            let name = String(fields[2])
            guard numbers.count == 5 else { continue }
            now[name] = numbers
            guard let last = lastDisks[name] else { continue }
            let spent = zip(numbers, last).map { $0 >= $1 ? $0 - $1 : 0 }
            var item = ObjectWriter()
            item.add("name", name)
            item.add("reads", spent[0])
            // Sectors of /proc/diskstats are 512 bytes whatever the disk's are.
            item.add("read_bytes", spent[1] &* 512)
            item.add("writes", spent[2])
            item.add("written_bytes", spent[3] &* 512)
            item.add("busy_ms", spent[4])
            items.append(item.finished)
        }
        lastDisks = now
        return Self.list("host.disk", "disks", items)
    }

    /// Bytes, packets, errors and drops of each interface since the last snapshot.
    private mutating func network() -> HostSample? {
        var now: [String: [UInt64]] = [:]
        var items: [[UInt8]] = []
        for line in lines("net/dev").dropFirst(2) {
            guard let colon = line.lastIndex(of: ":"), now.count < Self.itemsMax else { continue }
            let name = line[..<colon].drop { $0 == " " }
            let numbers = line[line.index(after: colon)...].split(separator: " ")
                .compactMap { UInt64($0) }
            // An interface that never moved a byte tells nothing.
            guard numbers.count >= 12, name != "lo", numbers[0] | numbers[8] > 0 else { continue }
            now[String(name)] = numbers
            guard let last = lastNetwork[String(name)] else { continue }
            let spent = zip(numbers, last).map { $0 >= $1 ? $0 - $1 : 0 }
            var item = ObjectWriter()
            item.add("name", String(name))
            let columns = [
                ("received_bytes", 0), ("received_packets", 1), ("receive_errors", 2),
                ("receive_drops", 3), ("sent_bytes", 8), ("sent_packets", 9), ("send_errors", 10),
                ("send_drops", 11),
            ]
            for (key, column) in columns { item.add(key, spent[column]) }
            items.append(item.finished)
        }
        lastNetwork = now
        return Self.list("host.network", "interfaces", items)
    }

    /// Space and inodes of the file systems that lie on a disk.
    private func fileSystems() -> HostSample? {
        var seen: Set<Substring> = []
        var items: [[UInt8]] = []
        for line in lines("self/mounts") {
            let fields = line.split(separator: " ")
            guard fields.count >= 3, fields[0].hasPrefix("/dev/") || fields[1] == "/",
                items.count < Self.itemsMax,
                seen.insert(fields[0]).inserted,
                let space = try? DiskSpace(at: MountPath.decoded(fields[1])), space.total > 0
            else { continue }
            var item = ObjectWriter()
            item.add("path", MountPath.decoded(fields[1]))
            item.add("type", String(fields[2]))
            item.add("total", space.total)
            item.add("available", space.free)
            item.add("inodes", space.files)
            item.add("free_inodes", space.freeFiles)
            items.append(item.finished)
        }
        return Self.list("host.filesystem", "filesystems", items)
    }

    private static func list(_ kind: String, _ key: String, _ items: [[UInt8]]) -> HostSample? {
        if items.isEmpty { return nil }
        var object = ObjectWriter()
        object.add(key, array: items)
        return HostSample(kind: kind, payload: object.finished)
    }

    /// `49.90` as 4990; the kernel prints two digits.
    static func hundredths(_ text: Substring) -> Int64? {
        var scanner = TextScanner(text)
        guard let number = scanner.decimal(), scanner.isAtEnd else { return nil }
        return number.scaled(by: 100)
    }

    /// Partitions are parts of a disk that is counted already; loop and RAM disks are none.
    static func isWholeDisk(_ name: Substring) -> Bool {
        if ["loop", "ram", "zram"].contains(where: { name.hasPrefix($0) }) { return false }
        let endsInDigit = name.last?.isNumber ?? true
        if name.hasPrefix("nvme") || name.hasPrefix("mmcblk") {
            return !name.dropFirst(4).contains("p")
        }
        return name.hasPrefix("dm-") || name.hasPrefix("md") || name.hasPrefix("sr") || !endsInDigit
    }
}
