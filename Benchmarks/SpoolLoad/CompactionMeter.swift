import Glibc
import LinuxIO
import Spool

/// Compacts, and measures it.
struct CompactionMeter {
    let directory: String
    private var seconds = 0.0
    private var raw = 0
    private var records = 0
    private var bytes: Int64 = 0
    private var segments = 0
    /// The longest that a writer would have had to wait, ns.
    private var longestHold: UInt64 = 0

    init(directory: String) {
        self.directory = directory
    }

    /// Makes segments as long as the limits ask for it.
    mutating func compact(_ limits: CompactionLimits) throws {
        let start = Self.processorTime()
        var begun: UInt64 = 0
        var longest = longestHold
        var compaction = try Compaction(
            directory: directory,
            limits: limits,
            hook: { moment in
                if moment == .folderSynced { begun = Clock.system.boot() }
                if moment == .committed { longest = max(longest, Clock.system.boot() - begun) }
            }
        )
        while let made = try compaction.step() {
            raw += made.raw
            records += made.records
            bytes += made.bytes
            segments += 1
        }
        seconds += Self.processorTime() - start
        longestHold = longest
    }

    /// Prints the figures.
    func tell(records total: Int) {
        let rate = Int(Double(raw) / max(0.001, seconds) / 1e6)
        let each = (Double(bytes) / Double(max(1, records)) * 100).rounded() / 100
        print("\(segments) segments of \(records) records, \(raw) -> \(bytes) bytes")
        print("\(each) B a record, \(rate) MB/s of processor time")
        print("the writing lock was held \(longestHold / 1000) us at the most")
        let status = String(
            decoding: (try? Files.contents("/proc/self/status")) ?? [],
            as: UTF8.self
        )
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM") { print(line) }
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
