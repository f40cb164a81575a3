internal import Basics
internal import Spool
internal import Telemetry

/// What `intel status` knows.
struct Status {
    let folder: String
    let agent: AgentAnswer
    let summary: SpoolSummary
    let peers: [PeerState]

    static let presences = [Presence.alive, .lost, .left, .died]

    func count(_ presence: Presence) -> UInt64 {
        UInt64(peers.count { $0.presence == presence })
    }

    private func sum(_ part: (PeerState) -> UInt64) -> UInt64 {
        peers.reduce(0) { $0 &+ part($1) }
    }

    /// Payload bytes for each byte on the disk: ` (9.5x)`.
    private var ratio: String {
        guard summary.fileBytes > 0, summary.rawBytes > summary.fileBytes else { return "" }
        let tenths = summary.rawBytes &* 10 / summary.fileBytes
        return " (\(tenths / 10).\(tenths % 10)x)"
    }

    /// What of it is in the cold tier.
    private var cold: String {
        if summary.segments == 0 { return "" }
        let (records, files) = (summary.coldRecords, summary.segments)
        return ", \(FigureText.grouped(records)) of them in \(FigureText.grouped(files)) segments"
    }

    /// Lines to read.
    func text(_ zone: Zone) -> String {
        let lines = agentLines + spoolLines(zone)
        var text = lines.map { HelpText.pad($0.0, to: 9) + $0.1 + "\n" }.joined()
        for warning in agent.warnings {
            text += HelpText.pad("warning", to: 9) + TerminalText.escaped(warning) + "\n"
        }
        text += "\nlimits\n"
        let width = LimitsTable.all.map(\.name.count).max() ?? 0
        for limit in LimitsTable.all {
            let name = HelpText.pad(limit.name, to: width)
            text += "  \(name)  \(FigureText.grouped(limit.value))\n"
        }
        return text
    }

    private var agentLines: [(String, String)] {
        guard let pid = agent.pid else { return [("agent", "not running")] }
        guard agent.json != nil else { return [("agent", "running, pid \(pid)")] }
        let grouped = FigureText.grouped
        let place = TerminalText.escaped(agent.text("path", of: "bus"))
        let host = agent.flag("hosted", of: "bus") ? "hosted at" : "used at"
        let isAway = !agent.flag("attached", of: "bus")
        let channel = TerminalText.escaped(agent.text("channel", of: "bus"))
        return [
            (
                "agent",
                "running, pid \(pid), up \(DurationText.short(agent.number("uptime_seconds"))), "
                    + "\(FigureText.bytes(agent.number("resident_bytes"))) of memory"
            ),
            ("bus", "\(host) \(place)\(isAway ? " (away)" : ""), channel \(channel)"),
        ] + busLines + [
            (
                "intake",
                "\(grouped(agent.number("stored_per_second")))/s, "
                    + "\(grouped(agent.number("stored"))) stored since the start, "
                    + "\(grouped(agent.number("duplicates"))) came twice, "
                    + "\(grouped(agent.number("malformed"))) transfers unreadable"
            ),
            (
                "queue",
                "\(FigureText.bytes(agent.number("waiting_bytes"))) waiting, "
                    + "\(grouped(agent.number("commits_in_flight"))) commits on their way, "
                    + "\(grouped(agent.number("commits"))) done (\(agent.text("durability")))"
            ),
        ]
    }

    /// The broker in the agent; nothing where somebody else hosts the bus.
    private var busLines: [(String, String)] {
        guard let names = agent.busNumber("names") else { return [] }
        func number(_ key: String) -> String { FigureText.grouped(agent.busNumber(key) ?? 0) }
        return [
            (
                "",
                "\(number("connections")) clients, \(FigureText.grouped(names)) names, "
                    + "\(FigureText.bytes(agent.busNumber("memory_bytes") ?? 0)) of registers"
            ),
            (
                "",
                "\(number("posts")) posts, \(number("refused")) refused, "
                    + "\(number("over_quota")) over quota, \(number("malformed")) malformed"
            ),
        ]
    }

    private func spoolLines(_ zone: Zone) -> [(String, String)] {
        let grouped = FigureText.grouped
        let states = Self.presences.map { "\(grouped(count($0))) \($0.name)" }
        return [
            ("spool", TerminalText.escaped(folder)),
            (
                "records",
                grouped(summary.records) + " in \(grouped(summary.batches)) batches" + cold
            ),
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
    }

    /// One JSON object.
    var json: String {
        var spool = ObjectWriter()
        spool.add("path", folder)
        spool.add("records", summary.records)
        spool.add("batches", summary.batches)
        spool.add("segments", summary.segments)
        spool.add("cold_records", summary.coldRecords)
        spool.add("raw_bytes", summary.rawBytes)
        spool.add("file_bytes", summary.fileBytes)
        spool.add("last_store", summary.lastStore)
        if let oldest = summary.oldestTime { spool.add("oldest", FigureText.stamp(oldest)) }
        if let newest = summary.newestTime { spool.add("newest", FigureText.stamp(newest)) }
        var running = ObjectWriter()
        running.add("running", agent.pid != nil)
        if let pid = agent.pid { running.add("pid", Int64(pid)) }
        if let json = agent.json { running.add("report", json: json) }
        running.add("warnings", texts: agent.warnings)
        var states = ObjectWriter()
        for presence in Self.presences { states.add(presence.name, count(presence)) }
        var books = ObjectWriter()
        books.add("sent", sum(\.sent))
        books.add("stored", sum(\.stored))
        books.add("collapsed", sum(\.collapsed))
        books.add("dropped", sum(\.dropped))
        books.add("missing", sum(\.missing))
        var limits = ObjectWriter()
        for limit in LimitsTable.all { limits.add(limit.name, limit.value) }
        var object = ObjectWriter()
        object.add("agent", json: running.finished)
        object.add("spool", json: spool.finished)
        object.add("peers", json: states.finished)
        object.add("books", json: books.finished)
        object.add("limits", json: limits.finished)
        return String(decoding: object.finished, as: UTF8.self)
    }
}
