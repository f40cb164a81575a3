internal import Basics
internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel losses`: the books.
enum LossesCommand {
    static let definition = Command(
        "losses",
        summary: "the books: per peer sent, stored, collapsed, dropped and missing",
        flags: [.peer, .tableOutput, .utc, .quiet, .spool],
        notes: [
            "sent = stored + collapsed + dropped + missing, always.",
            "Exit status: 0 nothing is missing, 1 something is, 2 error, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        let reader = try SpoolDoor.open(folder)
        // The peers first: a loss that is booked between the two shows up early, not late.
        let known = try reading { () throws(SpoolError) in try reader.peers() }
        let losses = try reading { () throws(SpoolError) in try reader.losses() }
        let globs = arguments.all(.peer).map { Glob($0) }
        let peers = PeerOrder.sorted(known).filter { peer in
            globs.isEmpty || globs.contains { $0.matches(peer.instance.identifier) }
        }
        let reasons = Dictionary(grouping: losses, by: \.instance)
        if arguments.value(.tableOutput) == "json" {
            let lines = peers.map { json($0, reasons[$0.instance] ?? []) + "\n" }
            try arguments.answer(lines.joined())
        } else if !peers.isEmpty {
            let zone: Zone = arguments.has(.utc) ? .utc : .local
            try arguments.answer(text(peers, reasons, zone))
        }
        let missing = peers.reduce(UInt64(0)) { $0 &+ $1.missing }
        return missing > 0 ? ExitStatus.nothing : ExitStatus.success
    }

    static func text(
        _ peers: [PeerState],
        _ reasons: [PeerInstance: [Loss]],
        _ zone: Zone
    ) -> String {
        var table = TextTable([
            "PEER", "STARTED", ">SENT", ">STORED", ">COLLAPSED", ">DROPPED", ">MISSING",
        ])
        var details = TextTable(["PEER", "WHAT", "SEQUENCE", "FROM", "TO", "WHY"])
        var hasDetails = false
        for peer in peers {
            let name = peer.instance.identifier
            table.add(
                [name, FigureText.time(Int64(clamping: peer.instance.epoch), zone)]
                    + [peer.sent, peer.stored, peer.collapsed, peer.dropped, peer.missing]
                    .map(FigureText.grouped)
            )
            for loss in reasons[peer.instance] ?? [] {
                let (range, times) = (FigureText.range(loss.sequences), loss.times)
                details.add([name, "dropped", range] + span(times, zone) + [loss.reason])
                hasDetails = true
            }
            for hole in peer.holes {
                let (range, times) = (FigureText.range(hole.sequences), hole.times)
                details.add([name, "missing", range] + span(times, zone) + ["never arrived"])
                hasDetails = true
            }
        }
        return table.text + (hasDetails ? "\n" + details.text : "")
    }

    private static func span(_ times: ClosedRange<Int64>, _ zone: Zone) -> [String] {
        [FigureText.time(times.lowerBound, zone), FigureText.time(times.upperBound, zone)]
    }

    static func json(_ peer: PeerState, _ losses: [Loss]) -> String {
        var object = ObjectWriter()
        object.add("peer", peer.instance.identifier)
        object.add("epoch", peer.instance.epoch)
        PeerJSON.books(peer, &object)
        object.add("holes", array: peer.holes.map { span($0.sequences, $0.times, nil) })
        object.add("losses", array: losses.map { span($0.sequences, $0.times, $0.reason) })
        return String(decoding: object.finished, as: UTF8.self)
    }

    private static func span(
        _ sequences: ClosedRange<UInt64>,
        _ times: ClosedRange<Int64>,
        _ reason: String?
    ) -> [UInt8] {
        var object = ObjectWriter()
        object.add("first", sequences.lowerBound)
        object.add("last", sequences.upperBound)
        object.add("from", FigureText.stamp(times.lowerBound))
        object.add("to", FigureText.stamp(times.upperBound))
        if let reason { object.add("reason", reason) }
        return object.finished
    }
}
