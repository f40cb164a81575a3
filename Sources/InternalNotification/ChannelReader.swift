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
    private static let scanIntervalMax: UInt64 = 1_000_000_000
    /// The longest pause before what is no peer is looked at again, ns.
    private static let refusalMax: UInt64 = 32_000_000_000
    /// Names that turn out to be no peers, in one listing: a round trip or two each.
    private static let failuresMax = 256
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

    /// A peer that could not be met.
    private struct Refusal {
        var epoch: UInt64
        /// CLOCK_BOOTTIME, ns: not before that again.
        var until: UInt64
        /// ns; twice as long after each time.
        var pause: UInt64
    }

    private struct News {
        var known: Set<UInt32> = []
        var needsScan = true
        /// The bus has come back: nobody's beat is in it yet.
        var isNewBus = false
        var own: UInt32?
        var ended: [UInt32: NotifyCause] = [:]
    }

    private let client: NotifyClient
    private let unpacker: Unpacker
    private let news: NewsBox
    private var tokens: [NotifyToken] = []
    private var lost: Set<UInt32> = []
    private var instances: Set<PeerInstance> = []
    private var ended: Set<UInt32> = []
    /// Lingering names that were read to their end: epochs by fingerprint.
    private var finished: [UInt32: UInt64] = [:]
    private var refusals: [UInt32: Refusal] = [:]
    /// The name that was tried last: the next listing goes on behind it.
    private var lastTried: UInt32 = 0
    private var nextRetry = UInt64.max
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

        func look(_ event: NotifyEvent) {
            let fingerprint = UInt32(event.state >> 32)
            state.withLock { news in
                if event.merged > 1
                    || (fingerprint != news.own && !news.known.contains(fingerprint))
                {
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
        let box = NewsBox(wake)
        news = box
        self.own = own
        tokens.append(try client.registerDirect(names.channel) { box.look($0) })
        tokens.append(try client.registerDirect(names.signal) { box.look($0) })
        client.onAttach { _ in
            box.state.withLock { news in
                news.needsScan = true
                news.isNewBus = true
            }
            wake.ring()
        }
    }

    /// Looks at what has changed: who came, went, fell silent or came back.
    public func update(now: UInt64) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        noteEnded(&changes)
        if now >= nextScan, now >= nextRetry || news.state.withLock({ $0.needsScan }) {
            let began = Clock.system.boot()
            scan(&changes, now: now)
            // Many names take long to list: then the rings have their time in between.
            let took = Clock.system.boot() - began
            nextScan = now + took + min(max(Self.scanInterval, 4 * took), Self.scanIntervalMax)
            noteEnded(&changes)
        }
        if news.state.withLock({ news in
            defer { news.isNewBus = false }
            return news.isNewBus
        }) {
            graceFrom = now
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

    /// The caller's own fingerprint, which is passed over; nil if it has none.
    public var own: UInt32? {
        get { news.state.withLock { $0.own } }
        set { news.state.withLock { $0.own = newValue } }
    }

    /// Makes the next `update` list the peers, whatever it has heard of them.
    public func mustScan() {
        nextScan = 0
        news.state.withLock { $0.needsScan = true }
    }

    /// When `update` should be called next even if nothing rings, CLOCK_BOOTTIME ns.
    public var nextUpdate: UInt64 {
        let wanted = news.state.withLock { $0.needsScan } ? nextScan : max(nextRetry, nextScan)
        return min(wanted, nextBeatCheck)
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
        let own = own
        // Other names of this very program, since its first were taken.
        if let own, links[own] != nil { forget(own) }
        var listed: Set<UInt32> = []
        var unknown: [(fingerprint: UInt32, info: NameInfo)] = []
        for info in found {
            guard let fingerprint = names.fingerprint(ofEpochName: info.name), fingerprint != own,
                info.state != 0
            else { continue }
            listed.insert(fingerprint)
            if let link = links[fingerprint] {
                if link.instance.epoch != info.state { replace(link, &changes) }
                continue
            }
            // It had ended and is back: it was asleep while the bus was started again.
            let isBack = info.connection != 0 && info.cause == .post
            if finished[fingerprint] == info.state, !isBack { continue }
            if let past = refusals[fingerprint], past.epoch == info.state, now < past.until {
                continue
            }
            unknown.append((fingerprint, info))
        }
        finished = finished.filter { listed.contains($0.key) }
        refusals = refusals.filter { listed.contains($0.key) && links[$0.key] == nil }
        meet(unknown, &changes, now: now)
        // What is due by now was not to be tried, and is not waited for.
        nextRetry = refusals.values.reduce(.max) { $1.until > now ? min($0, $1.until) : $0 }
    }

    /// Opens who may be a peer, from behind the one that was tried last.
    private func meet(
        _ unknown: [(fingerprint: UInt32, info: NameInfo)],
        _ changes: inout [PresenceChange],
        now: UInt64
    ) {
        let start = unknown.firstIndex { $0.fingerprint > lastTried } ?? 0
        var failures = 0
        for (fingerprint, info) in unknown[start...] + unknown[..<start] {
            guard failures < Self.failuresMax else {
                news.state.withLock { $0.needsScan = true }
                return
            }
            lastTried = fingerprint
            if open(fingerprint, info, &changes) {
                refusals[fingerprint] = nil
                continue
            }
            failures += 1
            refuse(fingerprint, info.state, now: now)
        }
    }

    /// A peer's name without what makes a peer: all of it may come in a moment, or never.
    ///
    /// Whoever writes one such name may write thousands, and each try asks the broker twice.
    private func refuse(_ fingerprint: UInt32, _ epoch: UInt64, now: UInt64) {
        var pause = Self.scanInterval
        if let past = refusals[fingerprint], past.epoch == epoch {
            pause = min(past.pause * 2, Self.refusalMax)
        }
        refusals[fingerprint] = Refusal(epoch: epoch, until: now + pause, pause: pause)
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

    /// False if this is no peer, or none yet.
    private func open(_ fingerprint: UInt32, _ info: NameInfo, _ changes: inout [PresenceChange])
        -> Bool
    {
        guard links.count < Limits.peersMax else {
            isFull = true
            return true
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
        else { return false }
        guard instances.insert(link.instance).inserted else {
            // Or it is that very peer, whose names were taken while the bus was started again.
            if refusals[fingerprint]?.epoch != info.state { impostors += 1 }
            link.close()
            return false
        }
        finished[fingerprint] = nil
        links[fingerprint] = link
        // Gone already, before the registration: no event will come.
        let ending = link.ending()
        news.state.withLock { news in
            news.known.insert(fingerprint)
            if let ending { news.ended[fingerprint] = ending }
        }
        changes.append(change(.appeared, link))
        return true
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
            link.mayAskAgain()
            changes.append(change(cause == .left ? .left : .died, link))
        }
    }

    private func checkBeats(_ changes: inout [PresenceChange], now: UInt64) {
        guard client.isAttached else {
            graceFrom = now
            return
        }
        for link in links.values { link.mayAskAgain() }
        for (fingerprint, link) in links where !ended.contains(fingerprint) {
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
