internal import Glibc

/// This process's own memory.
public enum ProcessMemory {
    /// Gives the program's code and constants back to the page cache, from where they come again as
    /// they are used.
    ///
    /// Starting runs through much that is never needed again, and each fault maps the pages around
    /// it: of a service that then waits for days this is most of what is resident.
    public static func releaseUnwritten() {
        guard let bytes = try? Files.contents("/proc/self/smaps", limit: 4 << 20) else { return }
        var regions: [(start: UInt, count: Int)] = []
        var region: (start: UInt, count: Int)?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if let found = header(line) {
                region = found
            } else if line.hasPrefix("Anonymous:"), let last = region {
                // Pages of its own would be lost: relocations, breakpoints.
                if line.split(separator: " ").dropFirst().first == "0" { regions.append(last) }
                region = nil
            }
        }
        // All at once: reading the lines would bring code back.
        for region in regions {
            madvise(UnsafeMutableRawPointer(bitPattern: region.start), region.count, MADV_DONTNEED)
        }
    }

    /// Where a mapping of a file lies that cannot be written; nil for other lines and mappings.
    private static func header(_ line: Substring) -> (start: UInt, count: Int)? {
        let fields = line.split(separator: " ")
        guard fields.count >= 6, fields[1] == "r-xp" || fields[1] == "r--p",
            fields[5].hasPrefix("/")
        else { return nil }
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        return (ends[0], Int(ends[1] - ends[0]))
    }
}
