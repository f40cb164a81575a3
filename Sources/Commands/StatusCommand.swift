internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel status`: the agent and its spool in figures.
enum StatusCommand {
    static let output = Flag(
        "output",
        short: "o",
        "FORMAT",
        choices: ["text", "json"],
        help: "text or json"
    )

    static let definition = Command(
        "status",
        summary: "the agent, its spool and the limits",
        flags: [output, .utc, .spool],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        let reader = try reading { () throws(SpoolError) in try SpoolReader(directory: folder) }
        let status = Status(
            folder: folder,
            agent: RunningAgent.find(spool: folder),
            summary: try reading { () throws(SpoolError) in try reader.summary() },
            peers: try reading { () throws(SpoolError) in try reader.peers() }
        )
        if arguments.value(output) == "json" { return try arguments.answer(status.json + "\n") }
        return try arguments.answer(status.text(arguments.has(.utc) ? .utc : .local))
    }
}

/// What `intel status` knows.
struct Status {
    let folder: String
    let agent: Int32?
    let summary: SpoolSummary
    let peers: [PeerState]

    private static let presences = [Presence.alive, .lost, .left, .died]

    private func count(_ presence: Presence) -> UInt64 {
        UInt64(peers.count { $0.presence == presence })
    }

    private func sum(_ part: (PeerState) -> UInt64) -> UInt64 {
        peers.reduce(0) { $0 &+ part($1) }
    }

    /// Payload bytes for each byte on the disk: ` (9.5x)`.
    private var ratio: String {
        guard summary.fileBytes > 0, summary.rawBytes > 0 else { return "" }
        let tenths = summary.rawBytes &* 10 / summary.fileBytes
        return " (\(tenths / 10).\(tenths % 10)x)"
    }

    /// Lines to read.
    func text(_ zone: Zone) -> String {
        let grouped = FigureText.grouped
        let states = Self.presences.map { "\(grouped(count($0))) \($0.name)" }
        let lines = [
            ("agent", agent.map { "running, pid \($0)" } ?? "not running"),
            ("spool", TerminalText.escaped(folder)),
            ("records", grouped(summary.records) + " in \(grouped(summary.batches)) batches"),
            (
                "size",
                "\(FigureText.bytes(summary.fileBytes)) on disk for "
                    + "\(FigureText.bytes(summary.rawBytes)) of payload" + ratio
            ),
            ("oldest", FigureText.time(summary.oldestTime, zone)),
            ("newest", FigureText.time(summary.newestTime, zone)),
            ("peers", states.joined(separator: ", ")),
            (
                "books",
                "\(grouped(sum(\.sent))) sent, \(grouped(sum(\.stored))) stored, "
                    + "\(grouped(sum(\.collapsed))) collapsed, \(grouped(sum(\.dropped))) dropped, "
                    + "\(grouped(sum(\.missing))) missing"
            ),
        ]
        var text = lines.map { HelpText.pad($0.0, to: 9) + $0.1 + "\n" }.joined()
        text += "\nlimits\n"
        let width = Self.limits.map(\.name.count).max() ?? 0
        for limit in Self.limits {
            let name = HelpText.pad(limit.name, to: width)
            text += "  \(name)  \(grouped(limit.value))\n"
        }
        return text
    }

    /// One JSON object.
    var json: String {
        var spool = ObjectWriter()
        spool.add("path", folder)
        spool.add("records", summary.records)
        spool.add("batches", summary.batches)
        spool.add("raw_bytes", summary.rawBytes)
        spool.add("file_bytes", summary.fileBytes)
        spool.add("last_store", summary.lastStore)
        if let oldest = summary.oldestTime { spool.add("oldest", FigureText.stamp(oldest)) }
        if let newest = summary.newestTime { spool.add("newest", FigureText.stamp(newest)) }
        var agent = ObjectWriter()
        agent.add("running", self.agent != nil)
        if let pid = self.agent { agent.add("pid", Int64(pid)) }
        var states = ObjectWriter()
        for presence in Self.presences {
            states.add(presence.name, count(presence))
        }
        var books = ObjectWriter()
        books.add("sent", sum(\.sent))
        books.add("stored", sum(\.stored))
        books.add("collapsed", sum(\.collapsed))
        books.add("dropped", sum(\.dropped))
        books.add("missing", sum(\.missing))
        var limits = ObjectWriter()
        for limit in Self.limits { limits.add(limit.name, limit.value) }
        var object = ObjectWriter()
        object.add("agent", json: agent.finished)
        object.add("spool", json: spool.finished)
        object.add("peers", json: states.finished)
        object.add("books", json: books.finished)
        object.add("limits", json: limits.finished)
        return String(decoding: object.finished, as: UTF8.self)
    }

    /// Every bound of the product, by name; the unit comes last in it.
    static let limits: [(name: String, value: UInt64)] = [
        ("ping_interval_ns", Limits.pingInterval),
        ("lost_after_ns", Limits.lostAfter),
        ("ring_bytes", UInt64(Limits.ringBytes)),
        ("transfers_max", UInt64(Limits.transfersMax)),
        ("transfer_bytes", UInt64(Limits.transferBytes)),
        ("transfer_bytes_max", UInt64(Limits.transferBytesMax)),
        ("message_bytes_max", UInt64(Limits.messageBytesMax)),
        ("queue_bytes_max", UInt64(Limits.queueBytesMax)),
        ("queue_messages_max", UInt64(Limits.queueMessagesMax)),
        ("linger_seconds", UInt64(Limits.lingerSeconds)),
        ("name_bytes_max", UInt64(Limits.nameBytesMax)),
        ("peers_max", UInt64(Limits.peersMax)),
        ("kinds_max", UInt64(Limits.kindsMax)),
        ("holes_max", UInt64(Limits.holesMax)),
        ("batch_bytes", UInt64(Limits.batchBytes)),
        ("batch_bytes_max", UInt64(Limits.batchBytesMax)),
        ("batch_delay_ns", Limits.batchDelay),
        ("batches_queued_max", UInt64(Limits.batchesQueuedMax)),
        ("batch_raw_bytes_max", UInt64(Limits.batchRawBytesMax)),
        ("checkpoint_bytes", UInt64(Limits.checkpointBytes)),
        ("wal_bytes_max", UInt64(Limits.walBytesMax)),
    ]
}
