internal import InternalNotification
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Telemetry

/// When peers last pinged, as the bus has it at this moment.
///
/// The books are as old as the last commit, and a quiet peer may have none for hours; its heartbeat
/// is a register that anybody may read. Without a bus, or without the right to read it, the books
/// stand alone.
enum LivePeers {
    /// The same peers; those that are there are last seen when the bus heard them.
    static func refresh(_ peers: [PeerState], _ places: Places) -> [PeerState] {
        guard peers.contains(where: { $0.presence == .alive || $0.presence == .lost }),
            let channel = try? places.channel(), let client = try? NotifyClient(path: places.bus)
        else { return peers }
        defer { client.close() }
        let names = ChannelNames(channel)
        guard let epochs = try? client.list(prefix: names.prefix, suffix: PeerNames.epochSuffix),
            let beats = try? client.list(prefix: names.prefix, suffix: PeerNames.beatSuffix)
        else { return peers }
        let (wall, boot) = (Clock.system.wall(), Clock.system.boot())
        var seen: [String: Int64] = [:]
        for beat in beats where beat.state > 0 && beat.state <= boot {
            let base = String(beat.name.dropLast(PeerNames.beatSuffix.count))
            seen[base] = wall - Int64(clamping: boot - beat.state)
        }
        var last: [Run: Int64] = [:]
        for epoch in epochs {
            guard let fingerprint = names.fingerprint(ofEpochName: epoch.name),
                let time = seen[names.peer(fingerprint).base]
            else { continue }
            last[Run(fingerprint: fingerprint, epoch: epoch.state)] = time
        }
        return peers.map { peer in
            let run = Run(fingerprint: peer.fingerprint, epoch: peer.instance.epoch)
            guard peer.presence == .alive || peer.presence == .lost, let time = last[run] else {
                return peer
            }
            var fresh = peer
            fresh.lastSeen = max(peer.lastSeen, time)
            return fresh
        }
    }

    private struct Run: Hashable {
        var fingerprint: UInt32
        var epoch: UInt64
    }
}
