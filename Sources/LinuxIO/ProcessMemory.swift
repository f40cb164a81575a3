internal import Glibc

/// This process's own memory.
public enum ProcessMemory {
    /// Gives the program's code back to the page cache, from where it comes again as it is used.
    ///
    /// Starting runs through code that is never needed again, and each fault maps the pages around
    /// it: of a service that then waits for days this is most of what is resident.
    public static func releaseCode() {
        guard let bytes = try? Files.contents("/proc/self/maps", limit: 1 << 20) else { return }
        var regions: [(start: UInt, count: Int)] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            // Code is never written; what is only readable may hold relocations.
            guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, ends[0] < ends[1] else { continue }
            regions.append((ends[0], Int(ends[1] - ends[0])))
        }
        // All at once: reading the lines would bring code back.
        for region in regions {
            madvise(UnsafeMutableRawPointer(bitPattern: region.start), region.count, MADV_DONTNEED)
        }
    }
}
