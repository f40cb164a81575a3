internal import Spool
internal import Telemetry

/// `intel status -o prometheus`: the text exposition format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// Books are summed up over the runs of one program, so that the number of series follows the
/// programs of a machine and not its history.
struct StatusMetrics {
    /// The whole page.
    private(set) var text = ""

    init(_ status: Status) {
        agent(status)
        spool(status)
        peers(status)
    }

    private mutating func agent(_ status: Status) {
        let agent = status.agent
        add("up", .gauge, "1 if the agent runs and answers.", [("", agent.json == nil ? 0 : 1)])
        guard agent.json != nil else { return }
        let figures: [(String, Kind, String, String)] = [
            ("uptime_seconds", .gauge, "Seconds since the agent started.", "uptime_seconds"),
            ("resident_bytes", .gauge, "Memory that the agent holds.", "resident_bytes"),
            ("stored_total", .counter, "Records committed since the start.", "stored"),
            ("segments_total", .counter, "Segments made since the start.", "segments"),
            ("compacted_total", .counter, "Records moved to the cold tier.", "compacted"),
            ("removed_total", .counter, "Records that retention removed.", "removed"),
            ("removed_bytes_total", .counter, "Bytes of them.", "removed_bytes"),
            ("spool_bytes", .gauge, "Bytes in the spool's folder.", "spool_bytes"),
            ("spool_bytes_max", .gauge, "What they may be.", "spool_bytes_max"),
            ("commits_total", .counter, "Commits since the start.", "commits"),
            ("commits_failed_total", .counter, "Commits tried in vain.", "commits_failed"),
            ("log_bytes", .gauge, "Bytes of hot.db's write-ahead log.", "log_bytes"),
            ("log_held_bytes", .gauge, "Bytes of it that a reader holds back.", "log_held_bytes"),
            ("checkpoints_held_total", .counter, "Checkpoints not whole.", "checkpoints_held"),
            ("damages_found", .gauge, "Damages found at the start.", "damages_found"),
            ("duplicates_total", .counter, "Records that came again.", "duplicates"),
            ("malformed_total", .counter, "Transfers that could not be read.", "malformed"),
            ("impostors_total", .counter, "Peers passed over as impostors.", "impostors"),
            ("relabelled_total", .counter, "Records of too many kinds.", "relabelled"),
            ("books_in_memory", .gauge, "Runs of peers in memory.", "books_in_memory"),
            ("waiting_bytes", .gauge, "Payload that waits for a commit.", "waiting_bytes"),
            ("commits_in_flight", .gauge, "Commits on their way.", "commits_in_flight"),
        ]
        for (name, kind, help, key) in figures { add(name, kind, help, [("", agent.number(key))]) }
        let isAttached: UInt64 = agent.flag("attached", of: "bus") ? 1 : 0
        add("bus_attached", .gauge, "1 while the bus answers the agent.", [("", isAttached)])
        bus(agent)
        let warnings = UInt64(agent.warnings.count)
        add("warnings", .gauge, "Warnings that 'intel status' shows.", [("", warnings)])
    }

    /// The bus, where the agent hosts it.
    private mutating func bus(_ agent: AgentAnswer) {
        let figures: [(String, Kind, String, String)] = [
            ("connections", .gauge, "Clients of the bus.", "connections"),
            ("names", .gauge, "Names on the bus.", "names"),
            ("memory_bytes", .gauge, "Registers and pools of the bus.", "memory_bytes"),
            ("posts_total", .counter, "Posts on the bus.", "posts"),
            ("merged_total", .counter, "Posts merged into waiting ones.", "merged"),
            ("refused_total", .counter, "Operations that were refused.", "refused"),
            ("not_authorized_total", .counter, "Refused by the rules.", "not_authorized"),
            ("over_quota_total", .counter, "Refused by a quota.", "over_quota"),
            ("malformed_total", .counter, "Connections ended as malformed.", "malformed"),
            ("expired_total", .counter, "Claims ended by a deadline.", "expired"),
            ("out_of_descriptors_total", .counter, "Waits to connect.", "out_of_descriptors"),
        ]
        for (name, kind, help, key) in figures {
            guard let value = agent.busNumber(key) else { return }
            add("bus_" + name, kind, help, [("", value)])
        }
    }

    private mutating func spool(_ status: Status) {
        let summary = status.summary
        add("spool_records", .gauge, "Records in the spool.", [("", summary.records)])
        add("spool_bytes", .gauge, "The spool's size on disk.", [("", summary.fileBytes)])
        add("spool_payload_bytes", .gauge, "The size unpacked.", [("", summary.rawBytes)])
        add("spool_segments", .gauge, "Files of the cold tier.", [("", summary.segments)])
        let seconds = UInt64(clamping: (summary.oldestTime ?? 0) / 1_000_000_000)
        add("spool_oldest_timestamp_seconds", .gauge, "Time of the oldest.", [("", seconds)])
    }

    private mutating func peers(_ status: Status) {
        let states = Status.presences.map { (#"{state="\#($0.name)"}"#, status.count($0)) }
        add("peers", .gauge, "Peer instances by state.", states)
        let programs = Dictionary(grouping: status.peers, by: \.instance.identifier)
            .sorted { $0.key < $1.key }
        func series(_ part: (PeerState) -> UInt64) -> [(String, UInt64)] {
            programs.map { name, runs in
                (#"{peer="\#(Self.escaped(name))"}"#, runs.reduce(0) { $0 &+ part($1) })
            }
        }
        let parts: [(String, Kind, String, (PeerState) -> UInt64)] = [
            ("alive", .gauge, "Runs that are alive.", { $0.presence == .alive ? 1 : 0 }),
            ("sent_total", .counter, "Records sent.", \.sent),
            ("stored_total", .counter, "Records stored.", \.stored),
            ("collapsed_total", .counter, "Records folded into others.", \.collapsed),
            ("dropped_total", .counter, "Records given up with a reason.", \.dropped),
            ("missing", .gauge, "Records sent that have not come.", \.missing),
        ]
        for (name, kind, help, part) in parts { add("peer_" + name, kind, help, series(part)) }
    }

    private enum Kind: String { case gauge, counter }

    private mutating func add(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        _ series: [(labels: String, value: UInt64)]
    ) {
        if series.isEmpty { return }
        text += "# HELP intel_\(name) \(help)\n# TYPE intel_\(name) \(kind.rawValue)\n"
        for sample in series { text += "intel_\(name)\(sample.labels) \(sample.value)\n" }
    }

    /// A label's value: backslash, quote and line end are escaped.
    static func escaped(_ value: String) -> String {
        var out = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\"": out += "\\\""
            case "\n": out += "\\n"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
