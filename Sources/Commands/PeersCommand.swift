internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel peers`: who is there.
enum PeersCommand {
    static let all = Flag("all", short: "a", help: "also those that left or died")

    static let definition = Command(
        "peers",
        summary: "who is alive, since when, and their books",
        flags: [all, .peer, .tableOutput, .utc, .quiet, .spool],
        notes: ["Exit status: 0 somebody is there, 1 nobody, 2 error, 4 not allowed."],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        let reader = try reading { () throws(SpoolError) in try SpoolReader(directory: folder) }
        let known = try reading { () throws(SpoolError) in try reader.peers() }
        let peers = chosen(known, arguments)
        if arguments.value(.tableOutput) == "json" {
            try arguments.answer(peers.map { PeerJSON.text($0) + "\n" }.joined())
        } else if !peers.isEmpty {
            try arguments.answer(table(peers, arguments.has(.utc) ? .utc : .local))
        }
        if !arguments.has(.quiet), RunningAgent.find(spool: folder) == nil {
            StandardError.line("intel: note: the agent is not running; this is what it last saw")
        }
        return peers.isEmpty ? ExitStatus.nothing : ExitStatus.success
    }

    /// Those that the flags ask for, by name and then by start.
    static func chosen(_ peers: [PeerState], _ arguments: Parsed) -> [PeerState] {
        let globs = arguments.all(.peer).map { Glob($0) }
        return PeerOrder.sorted(peers).filter { peer in
            let isGone = peer.presence == .left || peer.presence == .died
            if isGone, !arguments.has(all) { return false }
            return globs.isEmpty || globs.contains { $0.matches(peer.instance.identifier) }
        }
    }

    static func table(_ peers: [PeerState], _ zone: Zone) -> String {
        var table = TextTable([
            "PEER", "STATE", "SINCE", "LAST SEEN", ">PID", ">UID", ">SENT", ">STORED", ">MISSING",
        ])
        for peer in peers {
            table.add([
                peer.instance.identifier,
                peer.presence.name,
                FigureText.time(peer.changed != 0 ? peer.changed : peer.appeared, zone),
                FigureText.time(peer.lastSeen, zone),
                "\(peer.pid)",
                "\(peer.uid)",
                FigureText.grouped(peer.sent),
                FigureText.grouped(peer.stored),
                FigureText.grouped(peer.missing),
            ])
        }
        return table.text
    }
}

/// The order in which peers are shown.
enum PeerOrder {
    /// By name, runs of one program by their start.
    static func sorted(_ peers: [PeerState]) -> [PeerState] {
        peers.sorted {
            ($0.instance.identifier, $0.instance.epoch)
                < ($1.instance.identifier, $1.instance.epoch)
        }
    }
}
