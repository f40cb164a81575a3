import LinuxIO
import Spool
import TestKit

/// A spool that is written to, and the words that say what has been promised so far.
///
/// `begin N`: the commit that ends with record N begins. `stored N`: the sender has been told.
/// `durable N`: whatever the durability, records to N stay. `retain N`: some of the oldest records
/// may go, but none above N. `backup F L`: a backup of records F to L begins; `backed F L`: it is
/// made.
struct Stage: ~Copyable {
    let root: String
    let durability: Durability
    private var writer: SpoolWriter?
    private var last: UInt64

    static let batch: UInt64 = 6

    var spool: String { root + "/spool" }
    var backup: String { root + "/backup" }

    init(root: String, isFull: Bool) throws {
        self.root = root
        durability = isFull ? .full : .normal
        writer = nil
        last = 0
        try open()
    }

    static func say(_ text: String) throws {
        try Descriptor.write(Descriptor.output, Array((text + "\n").utf8))
    }

    /// Opens the spool as the agent does when it starts.
    mutating func open() throws {
        let opened = try SpoolWriter(directory: spool, durability: durability)
        last = opened.nextStore - 1
        writer = consume opened
        if durability == .full { try Self.say("stored \(last)") }
    }

    /// Closes the spool: what is in the log goes into hot.db.
    mutating func close() throws {
        writer = nil
        try Self.say("durable \(last)")
    }

    mutating func commit(_ count: Int) throws {
        for _ in 0..<count {
            let range = last + 1...last + Self.batch
            try Self.say("begin \(range.upperBound)")
            _ = try writer?.commit(NumberedRecords.commit(range))
            last = range.upperBound
            try Self.say("stored \(last)")
        }
    }

    /// Has the log copied into hot.db, on the thread that does it in the agent.
    func checkpoint() throws {
        let checkpointer = try Checkpointer(directory: spool, every: 1)
        checkpointer.nudge()
        let hasRun = eventually { checkpointer.passes > 0 }
        guard hasRun, checkpointer.busy == 0 else {
            throw StageError(what: "no checkpoint")
        }
        checkpointer.stop()
        try Self.say("durable \(last)")
    }

    func compact(_ limits: CompactionLimits) throws {
        var compaction = try Compaction(directory: spool, limits: limits)
        var hasMade = false
        while try compaction.step() != nil { hasMade = true }
        guard hasMade else { throw StageError(what: "nothing was compacted") }
        try Self.say("durable \(last)")
    }

    /// Keeps about as many of the newest records.
    func retain(_ records: UInt64, isFull: Bool = false) throws {
        try Self.say("retain \(last - min(last, records) + Self.batch)")
        var rules = RetentionRules()
        rules.records = records
        var retention = try Retention(directory: spool, rules: rules)
        guard try !retention.run(now: 5, isFull: isFull).removed.isEmpty else {
            throw StageError(what: "nothing was removed")
        }
        try Self.say("durable \(last)")
    }

    /// - Parameter first: the first record that the backup will have.
    func back(up first: UInt64, mirrors: Bool = false) throws {
        try Self.say("backup \(first) \(last)")
        _ = try SpoolBackup(spool: spool, folder: backup, mirrors: mirrors).run()
        try Self.say("backed \(first) \(last)")
    }

    /// The first record that the spool has.
    func first() throws -> UInt64 {
        var reader = try SpoolReader(directory: spool)
        var first = UInt64.max
        _ = try reader.forEach(Query()) { view in
            first = min(first, view.store)
            return true
        }
        return first
    }
}

struct StageError: Error {
    let what: String
}

extension CompactionLimits {
    /// Segments of about three commits each; the newest two commits stay hot.
    static let pieces = CompactionLimits(
        hotBytes: 0,
        keptBytes: 16_000,
        segmentBytes: 26_000,
        smallBytes: 0
    )
    /// All of it, joined with the newest segment.
    static let joined = CompactionLimits(hotBytes: 0, keptBytes: 0, smallBytes: 1 << 20)
}
