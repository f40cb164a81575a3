internal import SQLite
internal import Telemetry

/// The names of a spool at one moment, and what a query makes of them.
struct Catalog {
    struct Sender {
        var instance: PeerInstance
        var pid: Int32
        var uid: UInt32
        /// Its place among all instances by identifier (bytes) and epoch: ties sort by it.
        var rank: Int32
        /// True if the query's conditions let it pass.
        var isWanted: Bool
    }

    struct Stream {
        var kind: String
        /// True if the query's globs let it pass.
        var isWanted: Bool
    }

    private(set) var senders: [Int64: Sender] = [:]
    private(set) var streams: [Int64: Stream] = [:]

    init(_ database: borrowing Database, _ query: Query) throws {
        let peers = try database.prepare("SELECT id, peer, epoch, pid, uid FROM peer_state")
        var found: [(id: Int64, sender: Sender)] = []
        while try peers.step() {
            let epoch = UInt64(bitPattern: peers.integer(2))
            let sender = Sender(
                instance: PeerInstance(identifier: peers.text(1), epoch: epoch),
                pid: Int32(truncatingIfNeeded: peers.integer(3)),
                uid: UInt32(truncatingIfNeeded: peers.integer(4)),
                rank: 0,
                isWanted: query.conditions.wants(epoch: peers.integer(2))
            )
            found.append((peers.integer(0), sender))
        }
        found.sort { left, right in
            let (a, b) = (left.sender.instance, right.sender.instance)
            if a.identifier == b.identifier { return a.epoch < b.epoch }
            return a.identifier.utf8.lexicographicallyPrecedes(b.identifier.utf8)
        }
        for (rank, entry) in found.enumerated() {
            senders[entry.id] = entry.sender
            senders[entry.id]?.rank = Int32(clamping: rank)
        }
        let rows = try database.prepare("SELECT id, peer, kind FROM stream")
        while try rows.step() {
            let (peer, kind) = (rows.text(1), rows.text(2))
            let isWanted =
                (query.peers.isEmpty || query.peers.contains { $0.matches(peer) })
                && (query.kinds.isEmpty || query.kinds.contains { $0.matches(kind) })
                && query.conditions.wants(peer: peer, kind: kind)
            streams[rows.integer(0)] = Stream(kind: kind, isWanted: isWanted)
        }
    }

    /// True if records of a group pass the query's globs and levels.
    func wants(_ group: BatchGroup, _ query: Query) -> Bool {
        streams[group.stream]?.isWanted == true && senders[group.instance]?.isWanted == true
            && query.wants(level: group.level) && query.conditions.mayWant(group)
    }

    /// True if every name of these groups is known.
    func knows(_ groups: [BatchGroup]) -> Bool {
        groups.allSatisfy { senders[$0.instance] != nil && streams[$0.stream] != nil }
    }
}
