internal import Basics
internal import LinuxIO
internal import Spool
internal import Telemetry

/// `intel peers --at TIME`: who was there, from the history.
enum PeersAt {
    typealias Guest = PresenceHistory.Guest

    static func run(_ folder: String, _ arguments: Parsed) throws(CommandError) -> Int32 {
        let zone = arguments.has(.utc) ? Zone.utc : .local
        let time = try TimeExpression.parse(
            arguments.value(PeersCommand.at) ?? "now",
            flag: PeersCommand.at,
            now: Clock.system.wall(),
            zone: zone
        )
        var reader = try SpoolDoor.open(folder)
        // Everything that a printed time may mean is over by then.
        var history = PresenceHistory(at: time.last)
        let query = Query(
            peers: [Glob(PresenceHistory.witness)],
            kinds: [Glob(PresenceHistory.kind)]
        )
        let report = try reading { () throws(SpoolError) in
            try reader.forEach(query) { view in
                if let change = PresenceHistory.Change(view.payload) {
                    history.add(change, time: view.envelope.time)
                }
                return true
            }
        }
        let books = try reading { () throws(SpoolError) in try reader.peers() }
        let known = history.guests(books)
        let guests = known.filter {
            PeersCommand.isChosen($0.instance, $0.presence, arguments)
        }
        if !guests.isEmpty { try arguments.answer(text(guests, arguments, zone)) }
        if known.isEmpty, try isBeforeHistory(&reader, time.last, zone) {
            return ExitStatus.tooOld
        }
        let isWitnessed = known.contains {
            $0.instance.identifier == PresenceHistory.witness && $0.presence == .alive
        }
        if !arguments.has(.quiet), !isWitnessed {
            StandardError.line(
                "intel: note: the agent was not running then; this is what it had last seen"
            )
        }
        return Notes.status(found: !guests.isEmpty, report)
    }

    private static func isBeforeHistory(
        _ reader: inout SpoolReader,
        _ moment: Int64,
        _ zone: Zone
    ) throws(CommandError) -> Bool {
        let summary = try reading { () throws(SpoolError) in try reader.summary() }
        guard let oldest = summary.oldestTime, moment < oldest else { return false }
        StandardError.line("intel: the history begins at \(FigureText.time(oldest, zone))")
        return true
    }

    static func text(_ guests: [Guest], _ arguments: Parsed, _ zone: Zone) -> String {
        if arguments.value(.tableOutput) == "json" {
            return guests.map { json($0) + "\n" }.joined()
        }
        var table = TextTable(["PEER", "STATE", "SINCE", ">PID", ">UID"])
        for guest in guests {
            table.add([
                guest.instance.identifier,
                guest.presence.name,
                FigureText.time(guest.since, zone),
                "\(guest.pid)",
                "\(guest.uid)",
            ])
        }
        return table.text
    }

    private static func json(_ guest: Guest) -> String {
        var object = ObjectWriter()
        object.add("peer", guest.instance.identifier)
        object.add("epoch", guest.instance.epoch)
        object.add("state", guest.presence.name)
        object.add("changed", FigureText.stamp(guest.since))
        object.add("pid", Int64(guest.pid))
        object.add("uid", UInt64(guest.uid))
        return String(decoding: object.finished, as: UTF8.self)
    }
}
