internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel peers`: who is there.
enum PeersCommand {
    static let all = Flag("all", short: "a", help: "also those that left or died")

    static let at = Flag("at", "TIME", help: "who was there at that time")
    static let watch = Flag("watch", short: "w", help: "show it again each time it changes")

    static let definition = Command(
        "peers",
        summary: "who is alive, since when, and their books",
        flags: [all, at, watch, .peer, .tableOutput, .utc, .quiet, .spool, .bus, .channel],
        notes: [
            "--at takes the times of 'intel query --since'; it tells what the history says, so it",
            "reaches as far back as that. --watch runs until SIGINT or SIGTERM, or until nobody",
            "reads; a terminal is cleared each time, a pipe gets an empty line between.",
            "",
            "Exit status: 0 somebody is there, 1 nobody, 2 error, 3 damaged parts were skipped,",
            "4 not allowed, 5 the history does not reach that far.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        if arguments.has(watch) {
            guard !arguments.has(at) else {
                throw CommandError("--at does not go with --watch", hint: "leave one out")
            }
            return try PeersWatch(arguments).run()
        }
        let folder = Places(arguments).spool()
        if arguments.has(at) { return try PeersAt.run(folder, arguments) }
        let peers = try read(folder, arguments)
        if !peers.isEmpty { try arguments.answer(text(peers, arguments)) }
        if !arguments.has(.quiet), RunningAgent.find(spool: folder) == nil {
            StandardError.line("intel: note: the agent is not running; this is what it last saw")
        }
        return peers.isEmpty ? ExitStatus.nothing : ExitStatus.success
    }

    /// What the books in `folder` say of the peers that the flags ask for, and the bus of when they
    /// were last heard.
    static func read(_ folder: String, _ arguments: Parsed, isLive: Bool = true)
        throws(CommandError) -> [PeerState]
    {
        let reader = try SpoolDoor.open(folder)
        let known = try reading { () throws(SpoolError) in try reader.peers() }
        let peers = chosen(known, arguments)
        return isLive ? LivePeers.refresh(peers, Places(arguments)) : peers
    }

    /// A table, or an object a line.
    static func text(_ peers: [PeerState], _ arguments: Parsed) -> String {
        if arguments.value(.tableOutput) == "json" {
            return peers.map { PeerJSON.text($0) + "\n" }.joined()
        }
        return table(peers, arguments.has(.utc) ? .utc : .local)
    }

    /// Those that the flags ask for, by name and then by start.
    static func chosen(_ peers: [PeerState], _ arguments: Parsed) -> [PeerState] {
        PeerOrder.sorted(peers).filter { isChosen($0.instance, $0.presence, arguments) }
    }

    /// True if the flags ask for a peer in this state.
    static func isChosen(
        _ instance: PeerInstance,
        _ presence: Presence,
        _ arguments: Parsed
    ) -> Bool {
        if presence == .left || presence == .died, !arguments.has(all) { return false }
        let globs = arguments.all(.peer)
        return globs.isEmpty || globs.contains { Glob($0).matches(instance.identifier) }
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
