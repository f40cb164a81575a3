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
    private let collectorToken: NotifyToken
    private let session: UInt64
    private let mustRepeat: Flag
    private var peers: [UInt32: Acknowledged] = [:]
    /// Peers that could not be met, told once each.
    private var blocked: Set<UInt32> = []

    private struct Acknowledged {
        let instance: PeerInstance
        var takenToken: NotifyToken
        var storedToken: NotifyToken
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
        collectorToken = try client.claim(
            names.collector,
            ClaimOptions(state: session, will: 0, linger: 0)
        )
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
    ///
    /// While the bus is away this fails, and is tried again with the next look.
    private mutating func meetNewcomers(_ books: inout Books) {
        for (fingerprint, link) in reader.links where peers[fingerprint] == nil {
            meet(fingerprint, link.instance, stored: books.accountedUpTo(link.instance))
        }
    }

    private mutating func meet(_ fingerprint: UInt32, _ instance: PeerInstance, stored: UInt64) {
        let names = reader.names.peer(fingerprint)
        let tokens: [NotifyToken]
        do throws(NotifyStatus) {
            tokens = try client.claimAll([
                (names.taken(by: collector, of: instance.epoch), ClaimOptions(), 0),
                (names.stored(by: collector, of: instance.epoch), ClaimOptions(state: stored), 0),
            ])
        } catch {
            if error == .notAuthorized, blocked.insert(fingerprint).inserted {
                StandardError.line(
                    "intel: meet peer '\(instance)': somebody else has claimed the names of its "
                        + "acknowledgements, it waits with what it has"
                )
            }
            return
        }
        blocked.remove(fingerprint)
        peers[fingerprint] = Acknowledged(
            instance: instance,
            takenToken: tokens[0],
            storedToken: tokens[1],
            stored: stored,
            reach: stored
        )
        var batch = NotifyBatch()
        batch.setAndPost(tokens[1], stored)
        write(batch)
    }

    /// Hands what is new in all rings to the pipeline while it has room, and acknowledges what was
    /// taken.
    mutating func read(into pipeline: inout Pipeline, received: Int64, now: UInt64) {
        meetNewcomers(&pipeline.books)
        var batch = NotifyBatch()
        for (fingerprint, link) in reader.links {
            guard link.hasNews, var peer = peers[fingerprint] else { continue }
            let hasEnded = reader.hasEnded(fingerprint)
            while pipeline.batcher.hasRoom, let found = link.next() {
                switch found {
                case .damaged(let descriptor, let reason):
                    peer.reach = max(peer.reach, descriptor.sequences.upperBound)
                    pipeline.reject(descriptor, reason, from: link.instance, received, now)
                case .transfer(let descriptor, let json):
                    peer.sent = max(peer.sent, descriptor.sent)
                    if descriptor.isOldest {
                        peer.gone = max(peer.gone, descriptor.sequences.lowerBound - 1)
                    }
                    let isNext = descriptor.sequences.lowerBound <= peer.reach + 1
                    peer.hasGap = !(descriptor.isOldest || isNext || hasEnded)
                    if peer.hasGap { continue }
                    peer.reach = max(peer.reach, descriptor.sequences.upperBound)
                    pipeline.accept(json, descriptor, from: link.instance, received, now)
                }
            }
            if link.lastNumber != peer.taken {
                peer.taken = link.lastNumber
                batch.setAndPost(peer.takenToken, peer.taken)
            }
            peers[fingerprint] = peer
            flushIfLarge(&batch)
        }
        write(batch)
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
        defer { reader.forget(fingerprint) }
        blocked.remove(fingerprint)
        guard let peer = peers.removeValue(forKey: fingerprint) else { return 0 }
        for token in [peer.takenToken, peer.storedToken] { try? client.cancel(token) }
        return peer.sent
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
            batch.setAndPost(peer.storedToken, word.sequence)
            flushIfLarge(&batch)
        }
        write(batch)
    }

    /// After the bus came back, or did not take a frame: says everything again.
    func repeatIfReattached() {
        guard client.isAttached,
            mustRepeat.isSet.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        var batch = NotifyBatch()
        batch.setAndPost(collectorToken, session)
        for peer in peers.values {
            batch.setAndPost(peer.storedToken, peer.stored)
            batch.setAndPost(peer.takenToken, peer.taken)
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
