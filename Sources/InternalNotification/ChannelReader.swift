public import LinuxIO
public import NotifyClient
public import NotifyProtocol
internal import Synchronization
public import Telemetry

/// A change of who is there.
public struct PresenceChange: Sendable, Equatable {
    /// What happened.
    public enum Kind: String, Sendable {
        case appeared, reappeared, left, died, lost
    }

    /// What happened.
    public var kind: Kind
    /// Which run of which program.
    public var instance: PeerInstance
    /// Its fingerprint on the bus.
    public var fingerprint: UInt32
    /// Kernel's word on its process.
    public var pid: Int32
    /// Kernel's word on its user.
    public var uid: UInt32
}

/// Finds the peers of a channel and watches over them.
///
/// One thread owns it; the bell tells that thread when there is something to look at.
///
/// Posts on the channel merge, so an event only says "look": whenever one names an unknown peer or
/// says that it stands for several, the peers are listed anew. Liveness is read from each peer's
/// own beat register, so merging hides nobody.
public final class ChannelReader {
    /// A listing costs the broker time; events that ask for one within this span share it.
    public static let scanInterval: UInt64 = 20_000_000
    /// How often the beats are read.
    public static let beatInterval: UInt64 = 500_000_000

    /// The peers that are there, lost ones included, and those that have ended but are still read.
    public private(set) var links: [UInt32: PeerLink] = [:]
    /// True once a peer was passed over because `Limits.peersMax` of them are there.
    ///
    /// It keeps its messages, and is met with a later look when others have gone.
    public private(set) var isFull = false
    /// Peers that were passed over because they call themselves what a peer that is there is
    /// called, to the very start time.
    public private(set) var impostors: UInt64 = 0
    /// The channel's names.
    public let names: ChannelNames

    private struct News {
        var known: Set<UInt32> = []
        var needsScan = true
        var ended: [UInt32: NotifyCause] = [:]
    }

    private let client: NotifyClient
    private let unpacker: Unpacker
    private let own: UInt32?
    private let news: NewsBox
    private var tokens: [NotifyToken] = []
    private var lost: Set<UInt32> = []
    private var instances: Set<PeerInstance> = []
    private var ended: Set<UInt32> = []
    /// Lingering names that were read to their end: epochs by fingerprint.
    private var finished: [UInt32: UInt64] = [:]
    private var nextScan: UInt64 = 0
    private var nextBeatCheck: UInt64 = 0
    private var lastCheck: UInt64 = 0
    private var graceFrom: UInt64 = 0

    /// Shared with the client's thread.
    private final class NewsBox: Sendable {
        let state = Mutex(News())
        let wake: Wake

        init(_ wake: Wake) {
            self.wake = wake
        }

        func look(_ event: NotifyEvent, own: UInt32?) {
            let fingerprint = UInt32(event.state >> 32)
            state.withLock { news in
                if event.merged > 1 || (fingerprint != own && !news.known.contains(fingerprint)) {
                    news.needsScan = true
                }
            }
            wake.ring()
        }
    }

    /// Starts to listen on a channel.
    ///
    /// `own` is the caller's own fingerprint, which is passed over.
    public init(client: NotifyClient, names: ChannelNames, own: UInt32?, wake: Wake)
        throws(NotifyStatus)
    {
        self.client = client
        unpacker = try Unpacker()
        self.names = names
        self.own = own
        let box = NewsBox(wake)
        news = box
        tokens.append(try client.registerDirect(names.channel) { box.look($0, own: own) })
        tokens.append(try client.registerDirect(names.signal) { box.look($0, own: own) })
        client.onAttach { _ in
            box.state.withLock { $0.needsScan = true }
            wake.ring()
        }
    }

    /// Looks at what has changed: who came, went, fell silent or came back.
    public func update(now: UInt64) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        noteEnded(&changes)
        if now >= nextScan, news.state.withLock({ $0.needsScan }) {
            nextScan = now + Self.scanInterval
            scan(&changes, now: now)
            noteEnded(&changes)
        }
        if now >= nextBeatCheck {
            // Whoever was stopped itself must not take everybody else for silent.
            if now > lastCheck + 4 * Self.beatInterval { graceFrom = now }
            lastCheck = now
            nextBeatCheck = now + Self.beatInterval
            checkBeats(&changes, now: now)
        }
        return changes
    }

    /// Makes the next `update` list the peers, whatever it has heard of them.
    public func mustScan() {
        nextScan = 0
        news.state.withLock { $0.needsScan = true }
    }

    /// When `update` should be called next even if nothing rings, CLOCK_BOOTTIME ns.
    public var nextUpdate: UInt64 {
        news.state.withLock { $0.needsScan } ? min(nextScan, nextBeatCheck) : nextBeatCheck
    }

    /// True if this peer's connection has ended: read what is left, then `forget` it.
    public func hasEnded(_ fingerprint: UInt32) -> Bool {
        ended.contains(fingerprint)
    }

    /// True if a peer that has ended has left something unread.
    public var hasEndedNews: Bool {
        ended.contains { links[$0]?.isReadToEnd == false }
    }

    /// Lets a peer that has ended go.
    public func forget(_ fingerprint: UInt32) {
        guard let link = links.removeValue(forKey: fingerprint) else { return }
        finished[fingerprint] = link.instance.epoch
        instances.remove(link.instance)
        ended.remove(fingerprint)
        lost.remove(fingerprint)
        news.state.withLock { _ = $0.known.remove(fingerprint) }
        link.close()
    }

    /// Lets everything go.
    public func close() {
        for token in tokens { try? client.cancel(token) }
        for link in links.values { link.close() }
        links = [:]
    }

    private func scan(_ changes: inout [PresenceChange], now: UInt64) {
        news.state.withLock { $0.needsScan = false }
        isFull = false
        guard
            let found = try? client.list(prefix: names.prefix, suffix: PeerNames.epochSuffix)
        else {
            news.state.withLock { $0.needsScan = true }
            return
        }
        var listed: Set<UInt32> = []
        for info in found {
            guard let fingerprint = names.fingerprint(ofEpochName: info.name), fingerprint != own,
                info.state != 0
            else { continue }
            listed.insert(fingerprint)
            if let link = links[fingerprint] {
                if link.instance.epoch != info.state { replace(link, &changes) }
                continue
            }
            if finished[fingerprint] != info.state { open(fingerprint, info, &changes) }
        }
        finished = finished.filter { listed.contains($0.key) }
    }

    /// A later run has the names of one that was never seen to end: that one has ended, and the
    /// new one is met once it was let go.
    private func replace(_ link: PeerLink, _ changes: inout [PresenceChange]) {
        link.retire()
        news.state.withLock { $0.needsScan = true }
        guard ended.insert(link.fingerprint).inserted else { return }
        lost.remove(link.fingerprint)
        changes.append(change(.died, link))
    }

    private func open(_ fingerprint: UInt32, _ info: NameInfo, _ changes: inout [PresenceChange]) {
        guard links.count < Limits.peersMax else {
            isFull = true
            return
        }
        let box = news
        guard
            let link = try? PeerLink(
                client: client,
                unpacker: unpacker,
                names: names.peer(fingerprint),
                fingerprint: fingerprint,
                found: info,
                ended: { event in
                    box.state.withLock { $0.ended[fingerprint] = event.cause }
                    box.wake.ring()
                }
            )
        else { return }
        guard instances.insert(link.instance).inserted else {
            impostors += 1
            finished[fingerprint] = info.state
            link.close()
            return
        }
        links[fingerprint] = link
        // Gone already, before the registration: no event will come.
        let ending = link.ending()
        news.state.withLock { news in
            news.known.insert(fingerprint)
            if let ending { news.ended[fingerprint] = ending }
        }
        changes.append(change(.appeared, link))
    }

    private func noteEnded(_ changes: inout [PresenceChange]) {
        let causes = news.state.withLock { news in
            defer { news.ended = [:] }
            return news.ended
        }
        for (fingerprint, cause) in causes where !ended.contains(fingerprint) {
            guard let link = links[fingerprint] else { continue }
            ended.insert(fingerprint)
            lost.remove(fingerprint)
            changes.append(change(cause == .left ? .left : .died, link))
        }
    }

    private func checkBeats(_ changes: inout [PresenceChange], now: UInt64) {
        guard client.isAttached else {
            graceFrom = now
            return
        }
        for (fingerprint, link) in links where !ended.contains(fingerprint) {
            link.mayAskAgain()
            let heard = max(link.beat, graceFrom)
            let isSilent = now > heard && now - heard > Limits.lostAfter
            if isSilent, lost.insert(fingerprint).inserted {
                changes.append(change(.lost, link))
                // Not there after a restart of the bus either: nobody is left to come back.
                if let cause = link.ending() {
                    news.state.withLock { $0.ended[fingerprint] = cause }
                }
            } else if !isSilent, lost.remove(fingerprint) != nil {
                changes.append(change(.reappeared, link))
            }
        }
    }

    private func change(_ kind: PresenceChange.Kind, _ link: PeerLink) -> PresenceChange {
        PresenceChange(
            kind: kind,
            instance: link.instance,
            fingerprint: link.fingerprint,
            pid: link.pid,
            uid: link.uid
        )
    }
}
