internal import Basics
internal import Telemetry

/// A peer instance and its books as JSON objects.
enum PeerJSON {
    /// One object without a line end.
    static func text(_ peer: PeerState) -> String {
        var object = ObjectWriter()
        object.add("peer", peer.instance.identifier)
        object.add("epoch", peer.instance.epoch)
        object.add("state", peer.presence.name)
        object.add("apikey", peer.apikey)
        object.add("fingerprint", fingerprint(peer.fingerprint))
        object.add("pid", Int64(peer.pid))
        object.add("uid", UInt64(peer.uid))
        object.add("appeared", FigureText.stamp(peer.appeared))
        object.add("changed", FigureText.stamp(peer.changed))
        object.add("last_seen", FigureText.stamp(peer.lastSeen))
        books(peer, &object)
        return String(decoding: object.finished, as: UTF8.self)
    }

    /// The numbers that add up: sent = stored + collapsed + dropped + missing.
    static func books(_ peer: PeerState, _ object: inout ObjectWriter) {
        object.add("sent", peer.sent)
        object.add("stored", peer.stored)
        object.add("collapsed", peer.collapsed)
        object.add("dropped", peer.dropped)
        object.add("missing", peer.missing)
    }

    /// Eight hex digits, as in the names on the bus.
    private static func fingerprint(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
