internal import Basics
internal import LinuxIO
internal import NotifyBroker
internal import Spool

/// What the agent answers to `intel status`: one JSON object.
struct AgentReport {
    private let options: AgentOptions
    private let isHostingBus: Bool
    /// Wall clock, ns: when the agent started.
    private let started: Int64
    /// CLOCK_BOOTTIME, ns: when the agent started.
    private let startedBoot: UInt64

    /// The report of an agent that starts now.
    init(_ options: AgentOptions, isHostingBus: Bool) {
        self.options = options
        self.isHostingBus = isHostingBus
        started = Clock.system.wall()
        startedBoot = Clock.system.boot()
    }

    /// The folder of the spool.
    var spool: String { options.spool }

    /// The object as of `now` (CLOCK_BOOTTIME, ns).
    func json(_ figures: AgentFigures, now: UInt64) -> [UInt8] {
        var object = ObjectWriter()
        object.add("pid", Int64(Environment.pid))
        var stamp: [UInt8] = []
        CivilTime.appendRFC3339(started, to: &stamp)
        object.add("started", String(decoding: stamp, as: UTF8.self))
        object.add("uptime_seconds", (now - startedBoot) / 1_000_000_000)
        object.add("resident_bytes", Environment.residentBytes)
        object.add("durability", options.durability == .full ? "full" : "normal")
        var bus = ObjectWriter()
        bus.add("path", options.busPath)
        bus.add("channel", options.channel)
        bus.add("hosted", isHostingBus)
        bus.add("attached", figures.isAttached)
        if let broker = figures.broker { bus.add("broker", json: Self.json(broker)) }
        object.add("bus", json: bus.finished)
        object.add("peers_alive", UInt64(figures.alive))
        object.add("books_in_memory", UInt64(figures.booksInMemory))
        object.add("stored", figures.stored)
        object.add("stored_per_second", figures.storedPerSecond)
        object.add("commits", figures.commits)
        object.add("commits_failed", figures.failedCommits)
        object.add("log_bytes", figures.logBytes)
        object.add("log_held_bytes", figures.logHeldBytes)
        object.add("checkpoints_held", figures.checkpointsHeld)
        object.add("damages_found", UInt64(figures.findings))
        object.add("duplicates", figures.duplicates)
        object.add("malformed", figures.malformed)
        object.add("relabelled", figures.relabelled)
        object.add("impostors", figures.impostors)
        object.add("waiting_bytes", UInt64(figures.waitingBytes))
        object.add("commits_in_flight", UInt64(figures.commitsInFlight))
        object.add("segments", UInt64(figures.segments))
        object.add("compacted", figures.compacted)
        object.add("removed", figures.removedRecords)
        object.add("removed_bytes", figures.removedBytes)
        object.add("spool_bytes", figures.spoolBytes)
        object.add("spool_bytes_max", figures.spoolBytesMax)
        object.add("warnings", texts: warnings(figures))
        return object.finished
    }

    /// The counters of the bus, under the names that `intel notify` has for them.
    private static func json(_ broker: BrokerFigures) -> [UInt8] {
        var object = ObjectWriter()
        object.add("connections", UInt64(broker.connections))
        object.add("names", UInt64(broker.names))
        object.add("memory_bytes", UInt64(broker.memoryBytes))
        object.add("posts", broker.posts)
        object.add("merged", broker.merged)
        object.add("refused", broker.refused)
        object.add("not_authorized", broker.notAuthorized)
        object.add("over_quota", broker.overQuota)
        object.add("malformed", broker.malformed)
        object.add("expired", broker.expired)
        object.add("out_of_descriptors", broker.outOfDescriptors)
        return object.finished
    }

    /// What somebody should look at, in plain words.
    private func warnings(_ figures: AgentFigures) -> [String] {
        var found: [String] = []
        if let failure = figures.failure { found.append("commits fail: \(failure)") }
        if let failure = figures.compactionFailure { found.append("compaction fails: \(failure)") }
        if let failure = figures.retentionFailure { found.append("retention fails: \(failure)") }
        found += figures.retentionWarnings
        if figures.strays > 0 {
            found.append(
                "\(figures.strays) files in 'seg' are not of this spool, passed over: "
                    + "'intel spool salvage' reads them"
            )
        }
        if figures.logHeldBytes > 0 {
            found.append(
                "a reader of hot.db holds back \(figures.logHeldBytes) bytes of its log, which "
                    + "grows until it ends: another program's transaction, perhaps a shell's"
            )
        }
        if figures.findings > 0 {
            found.append(
                "the spool was damaged when the agent started: "
                    + "'intel query --kind intel.damage' tells"
            )
        }
        if !figures.isAttached { found.append("no bus answers at '\(options.busPath)'") }
        if figures.isFull { found.append("as many peers as may be are there, others wait") }
        if figures.impostors > 0 {
            found.append(
                "\(figures.impostors) peers with another one's name and start, passed over"
            )
        }
        if figures.relabelled > 0 {
            found.append("\(figures.relabelled) records have a kind beyond the limit of kinds")
        }
        if figures.malformed > 0 {
            found.append("\(figures.malformed) transfers could not be read")
        }
        return found
    }
}
