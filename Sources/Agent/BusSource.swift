internal import Basics
internal import InternalNotification
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization
internal import Telemetry

/// The agent's end of the bus: finds the peers, reads their rings, and acknowledges.
///
/// 1. *Taken* follows the copy out of the ring, *stored* only the commit.
/// 2. What a live sender has written behind a gap is passed over until it starts again from what is
///    stored: it does so as soon as it sees this collector, and its order is kept.
/// 3. What a peer that has ended left in its ring is read to the end, gap or not.
struct BusSource {
    /// The agent's identifier, and what its fingerprint as a collector is made of.
    static let identifier = "intel.agent"

    let client: NotifyClient
    let reader: ChannelReader
    let wake: Wake
    private let collector: UInt32
    private var collectorToken: NotifyToken
    private let session: UInt64
    private let mustRepeat: Flag
    private var peers: [UInt32: Acknowledged] = [:]
    /// Some names may be somebody else's: they are claimed again until they are this agent's.
    private var mustClaim = false
    /// Not before that, CLOCK_BOOTTIME ns.
    private var nextClaims: UInt64 = 0
    private var isRobbed = false
    /// The peer for which the last turn had no room.
    private var turnedAway: UInt32?

    private struct Acknowledged {
        let instance: PeerInstance
        /// Nil while somebody else has the names: it is read, and cannot be told.
        var tokens: (taken: NotifyToken, stored: NotifyToken)?
        /// That was told on standard error.
        var isBlocked = false
        var taken: UInt64 = 0
        var stored: UInt64
        /// Up to here its transfers were read without a gap that it could still fill.
        var reach: UInt64
        /// Transfers behind a gap were passed over.
        var hasGap = false
        /// Highest number that the sender says it has given out.
        var sent: UInt64 = 0
        /// Up to here the sender keeps nothing: what is missing of it will not come.
        var gone: UInt64 = 0
    }

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// Attaches to the channel as its collector.
    ///
    /// - Throws: `notAuthorized` if another collector has the channel.
    init(client: NotifyClient, channel: String, wake: Wake, clock: Clock) throws(NotifyStatus) {
        self.client = client
        self.wake = wake
        let names = ChannelNames(channel)
        collector = ChannelNames.fingerprint(of: Self.identifier, attempt: 1)
        let nonce = UInt64(clamping: clock.wall()) / 1_000_000 & 0xffff_ffff
        session = UInt64(collector) << 32 | max(1, nonce)
        collectorToken = try client.claim(names.collector, Self.claim(session))
        reader = try ChannelReader(client: client, names: names, own: nil, wake: wake)
        let flag = Flag()
        mustRepeat = flag
        client.onAttach { _ in
            flag.isSet.store(true, ordering: .sequentiallyConsistent)
            wake.ring()
        }
        try client.setAndPost(collectorToken, session)
    }

    /// Peers that are there, lost ones included.
    var peerCount: Int { peers.count }

    /// Meets peers that are new: tells each how far it is stored.
    private mutating func meetNewcomers(_ books: inout Books, now: UInt64) {
        for (fingerprint, link) in reader.links where peers[fingerprint] == nil {
            // What it is told must be on the disk, and this run of it may have been met before.
            guard books.isSettled(link.instance) else { continue }
            let stored = books.accountedUpTo(link.instance)
            peers[fingerprint] = Acknowledged(
                instance: link.instance,
                stored: stored,
                reach: stored
            )
            claim(fingerprint)
        }
        guard mustClaim, now >= nextClaims else { return }
        nextClaims = now + ChannelReader.beatInterval
        mustClaim = false
        if client.isRefused(collectorToken) { claimCollector() }
        for (fingerprint, peer) in peers {
            let tokens = peer.tokens.map { [$0.taken, $0.stored] } ?? []
            if tokens.isEmpty || tokens.contains(where: client.isRefused) { claim(fingerprint) }
        }
    }

    /// Claims the names of a peer's acknowledgements and says how far it is.
    ///
    /// Where this fails, somebody else having them or the bus being away, it is done again.
    private mutating func claim(_ fingerprint: UInt32) {
        guard var peer = peers[fingerprint] else { return }
        if let old = peer.tokens {
            for token in [old.taken, old.stored] { try? client.cancel(token) }
        }
        peer.tokens = nil
        let names = reader.names.peer(fingerprint)
        let epoch = peer.instance.epoch
        do throws(NotifyStatus) {
            let tokens = try client.claimAll([
                (names.taken(by: collector, of: epoch), ClaimOptions(state: peer.taken), 0),
                (names.stored(by: collector, of: epoch), ClaimOptions(state: peer.stored), 0),
            ])
            peer.tokens = (tokens[0], tokens[1])
            peer.isBlocked = false
            var batch = NotifyBatch()
            batch.setAndPost(tokens[1], peer.stored)
            batch.setAndPost(tokens[0], peer.taken)
            write(batch)
        } catch {
            mustClaim = true
            if error == .notAuthorized, !peer.isBlocked {
                peer.isBlocked = true
                StandardError.line(
                    "intel: meet peer '\(peer.instance)': somebody else has claimed the names of "
                        + "its acknowledgements, it is read and cannot be told so"
                )
            }
        }
        peers[fingerprint] = peer
    }

    /// Somebody else has become the collector while the bus was started again.
    private mutating func claimCollector() {
        do throws(NotifyStatus) {
            let token = try client.claim(reader.names.collector, Self.claim(session))
            try? client.cancel(collectorToken)
            collectorToken = token
            isRobbed = false
            mustRepeat.isSet.store(true, ordering: .sequentiallyConsistent)
        } catch {
            mustClaim = true
            guard error == .notAuthorized, !isRobbed else { return }
            isRobbed = true
            StandardError.line(
                "intel: collect: somebody else has claimed '\(reader.names.collector)' while the "
                    + "bus was started again, senders wait until it is free"
            )
        }
    }

    /// How the collector's name is held: it is 0 as soon as this agent has gone.
    private static func claim(_ session: UInt64) -> ClaimOptions {
        ClaimOptions(state: session, will: 0, linger: 0)
    }

    /// Hands what is new in all rings to the pipeline while it has room, and acknowledges what was
    /// taken.
    ///
    /// - Returns: true if nothing is left that could be read now.
    mutating func read(into pipeline: inout Pipeline, received: Int64, now: UInt64) -> Bool {
        meetNewcomers(&pipeline.books, now: now)
        var batch = NotifyBatch()
        let links = reader.links
        // Whoever found no room in the last turn is the first in this one.
        var index = turnedAway.flatMap { links.index(forKey: $0) } ?? links.startIndex
        turnedAway = nil
        var isDone = true
        for _ in 0..<links.count {
            let (fingerprint, link) = links[index]
            links.formIndex(after: &index)
            if index == links.endIndex { index = links.startIndex }
            guard link.hasNews, peers[fingerprint] != nil else { continue }
            guard pipeline.batcher.hasRoom else {
                turnedAway = fingerprint
                isDone = false
                break
            }
            read(link, fingerprint, into: &pipeline, &batch, received, now)
            if link.hasMore { isDone = false }
            flushIfLarge(&batch)
        }
        write(batch)
        return isDone && pipeline.batcher.hasRoom
    }

    private mutating func read(
        _ link: PeerLink,
        _ fingerprint: UInt32,
        into pipeline: inout Pipeline,
        _ batch: inout NotifyBatch,
        _ received: Int64,
        _ now: UInt64
    ) {
        guard var peer = peers[fingerprint] else { return }
        let hasEnded = reader.hasEnded(fingerprint)
        link.beginTurn()
        while pipeline.batcher.hasRoom, let found = link.next() {
            let descriptor = found.descriptor
            peer.sent = max(peer.sent, descriptor.sent)
            if descriptor.isOldest {
                peer.gone = max(peer.gone, descriptor.sequences.lowerBound - 1)
            }
            let isNext = descriptor.sequences.lowerBound <= peer.reach + 1
            peer.hasGap = !(descriptor.isOldest || isNext || hasEnded)
            if peer.hasGap { continue }
            peer.reach = max(peer.reach, descriptor.sequences.upperBound)
            switch found {
            case .damaged(_, let reason):
                pipeline.reject(descriptor, reason, from: link.instance, received, now)
            case .transfer(_, let json):
                pipeline.accept(json, descriptor, from: link.instance, received, now)
            }
        }
        if link.lastNumber != peer.taken {
            peer.taken = link.lastNumber
            if let tokens = peer.tokens { batch.setAndPost(tokens.taken, peer.taken) }
        }
        peers[fingerprint] = peer
    }

    /// A peer has ended: its ring is read once more from the beginning, since transfers may have
    /// been passed over.
    func rereadEnded(_ fingerprint: UInt32) {
        guard peers[fingerprint]?.hasGap == true else { return }
        reader.links[fingerprint]?.rewind()
    }

    /// Lets a peer that was read to its end go.
    ///
    /// - Returns: the highest number that it said to have given out.
    mutating func forget(_ fingerprint: UInt32) -> UInt64 {
        // It may have given up more since its last transfer was read.
        let sent = reader.links[fingerprint]?.sent ?? 0
        defer { reader.forget(fingerprint) }
        guard let peer = peers.removeValue(forKey: fingerprint) else { return 0 }
        if let tokens = peer.tokens {
            for token in [tokens.taken, tokens.stored] { try? client.cancel(token) }
        }
        return max(peer.sent, sent)
    }

    /// How far a peer is to be told that it is stored, where `accounted` is.
    ///
    /// Records that it was told of and that the spool has lost since, by a power cut or because a
    /// backup was put back, stay missing: it must not keep all that follows for their sake.
    func storedUpTo(_ accounted: IntervalSet, of fingerprint: UInt32, _ instance: PeerInstance)
        -> UInt64
    {
        guard let peer = peers[fingerprint], peer.instance == instance else {
            return accounted.contiguous
        }
        return max(accounted.contiguous, accounted.contiguous(after: peer.gone))
    }

    /// Tells senders how far they are on the disk.
    mutating func acknowledge(_ stored: [Acknowledgement]) {
        var batch = NotifyBatch()
        for word in stored {
            guard var peer = peers[word.fingerprint], peer.instance == word.instance,
                word.sequence > peer.stored
            else { continue }
            peer.stored = word.sequence
            peers[word.fingerprint] = peer
            if let tokens = peer.tokens { batch.setAndPost(tokens.stored, word.sequence) }
            flushIfLarge(&batch)
        }
        write(batch)
    }

    /// After the bus came back, or did not take a frame: says everything again.
    mutating func repeatIfReattached() {
        guard client.isAttached,
            mustRepeat.isSet.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        mustClaim = true
        var batch = NotifyBatch()
        batch.setAndPost(collectorToken, session)
        for peer in peers.values {
            guard let tokens = peer.tokens else { continue }
            batch.setAndPost(tokens.stored, peer.stored)
            batch.setAndPost(tokens.taken, peer.taken)
            flushIfLarge(&batch)
        }
        write(batch)
    }

    /// With thousands of peers the acknowledgements of one round are more than one frame.
    private func flushIfLarge(_ batch: inout NotifyBatch) {
        guard batch.byteCount > Frames.bytesMax / 2 else { return }
        write(batch)
        batch = NotifyBatch()
    }

    private func write(_ batch: NotifyBatch) {
        do throws(NotifyStatus) {
            try client.write(batch)
        } catch {
            mustRepeat.isSet.store(true, ordering: .sequentiallyConsistent)
        }
    }

    /// Says goodbye, so that senders know at once that nobody acknowledges any more.
    func close() {
        reader.close()
        client.close()
    }
}
