internal import Basics
internal import Spool
internal import Telemetry

/// Who was there at a moment, from the records of kind `intel.presence` and from the books.
///
/// The records tell each coming and going; the books tell of peers whose records are no longer
/// kept.
struct PresenceHistory {
    /// The kind of those records.
    static let kind = "intel.presence"
    /// Who sends them; whoever else uses the kind is not believed.
    static let witness = "intel.agent"

    /// A coming or going.
    struct Change: Equatable {
        var instance: PeerInstance
        var presence: Presence
        /// True where it was known before: it came back.
        var isReturn = false
        var pid: Int32 = 0
        var uid: UInt32 = 0
    }

    /// A peer as it was at the moment.
    struct Guest: Equatable {
        var instance: PeerInstance
        var presence: Presence
        /// Wall clock, ns: since when.
        var since: Int64
        var pid: Int32
        var uid: UInt32
    }

    /// The moment, wall clock, ns.
    let moment: Int64
    private var guests: [PeerInstance: Guest] = [:]
    /// The first change after the moment of peers that had none before it.
    private var next: [PeerInstance: Change] = [:]

    init(at moment: Int64) {
        self.moment = moment
    }

    /// Takes the changes in their order; `time` is the wall clock, ns.
    mutating func add(_ change: Change, time: Int64) {
        if time <= moment {
            guests[change.instance] = Guest(
                instance: change.instance,
                presence: change.presence,
                since: time,
                pid: change.pid,
                uid: change.uid
            )
        } else if guests[change.instance] == nil, next[change.instance] == nil {
            next[change.instance] = change
        }
    }

    /// Everybody who had come by then, those that had gone again included.
    func guests(_ books: [PeerState]) -> [Guest] {
        var all = guests
        for state in books where all[state.instance] == nil {
            all[state.instance] = guest(from: state)
        }
        return all.values.sorted {
            ($0.instance.identifier, $0.instance.epoch)
                < ($1.instance.identifier, $1.instance.epoch)
        }
    }

    /// Of a peer without a record up to the moment.
    private func guest(from state: PeerState) -> Guest? {
        guard state.appeared != 0, state.appeared <= moment else { return nil }
        var guest = Guest(
            instance: state.instance,
            presence: state.presence,
            since: max(state.appeared, state.changed),
            pid: state.pid,
            uid: state.uid
        )
        if state.changed <= moment { return guest }
        // It has changed since: what came next tells what it was. The agent's own comings have no
        // record, there the books alone tell.
        let change = next[state.instance]
        if let change, change.presence == .alive, !change.isReturn { return nil }
        guest.since = state.appeared
        guest.presence = change?.isReturn == true ? .lost : .alive
        return guest
    }
}

extension PresenceHistory.Change {
    /// Reads the payload of such a record: `{"change":"died","peer":"com.vendor.pos","epoch":…}`;
    /// nil if it is none.
    init?(_ payload: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(payload)
        var texts: [String: Substring] = [:]
        var identifier: String?
        do throws(JSONFault) {
            try scanner.expect(UInt8(ascii: "{"))
            repeat {
                let key = String(decoding: payload[try scanner.string()], as: UTF8.self)
                try scanner.expect(UInt8(ascii: ":"))
                let value = try scanner.value()
                if key == "peer", value.count >= 2 {
                    let inside = value.dropFirst().dropLast()
                    identifier = JSONText.unescaped(
                        UnsafeRawBufferPointer(rebasing: payload[inside])
                    )
                }
                texts[key] = Substring(decoding: payload[value], as: UTF8.self)
            } while scanner.take(UInt8(ascii: ","))
        } catch {
            return nil
        }
        guard let identifier, let epoch = texts["epoch"].flatMap({ UInt64($0) }) else {
            return nil
        }
        instance = PeerInstance(identifier: identifier, epoch: epoch)
        switch texts["change"] {
        case "\"appeared\"": presence = .alive
        case "\"reappeared\"": (presence, isReturn) = (.alive, true)
        case "\"left\"": presence = .left
        case "\"died\"": presence = .died
        case "\"lost\"": presence = .lost
        default: return nil
        }
        pid = texts["pid"].flatMap { Int32($0) } ?? 0
        uid = texts["uid"].flatMap { UInt32($0) } ?? 0
    }
}
