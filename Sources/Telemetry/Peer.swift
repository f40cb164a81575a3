public import Basics

/// One run of one program: its identifier and the start time of that run.
///
/// Sequence numbers run from 1 inside it, without holes.
public struct PeerInstance: Hashable, Sendable, CustomStringConvertible {
    /// The program, by its reverse-DNS identifier.
    public var identifier: String
    /// When this instance started, ns since 1970, chosen once by itself.
    public var epoch: UInt64

    /// An instance as given.
    public init(identifier: String, epoch: UInt64) {
        self.identifier = identifier
        self.epoch = epoch
    }

    /// `com.vendor.pos/1796000000000000000`.
    public var description: String { "\(identifier)/\(epoch)" }
}

/// Whether a peer is there, and if not, how it went.
public enum Presence: UInt8, Sendable {
    /// Connected and heard from within the heartbeat timeout.
    case alive = 0
    /// Said goodbye itself.
    case left = 1
    /// Its connection ended without a goodbye: a crash or a kill.
    case died = 2
    /// Connected but silent for longer than the heartbeat timeout.
    case lost = 3

    /// The word that output shows.
    public var name: String {
        switch self {
        case .alive: "alive"
        case .left: "left"
        case .died: "died"
        case .lost: "lost"
        }
    }
}

/// Numbers of one instance that were expected and have not come.
public struct Hole: Equatable, Sendable {
    /// The first and the last missing sequence number.
    public var sequences: ClosedRange<UInt64>
    /// Wall clock, ns, of the record before and of the one after: when it happened.
    public var times: ClosedRange<Int64>

    /// A hole as given.
    public init(sequences: ClosedRange<UInt64>, times: ClosedRange<Int64>) {
        self.sequences = sequences
        self.times = times
    }
}

/// All that the books say of one peer instance; stored in the same transaction as its records.
public struct PeerState: Equatable, Sendable {
    /// Who.
    public var instance: PeerInstance
    /// Its fingerprint on the bus, 0 for the agent's own records.
    public var fingerprint: UInt32 = 0
    /// The vendor's public key as the peer gave it.
    public var apikey = ""
    /// The kernel's word on its process.
    public var pid: Int32 = 0
    /// The kernel's word on its user.
    public var uid: UInt32 = 0

    /// Whether it is there, as last told.
    public var presence = Presence.alive
    /// Wall clock, ns: when it was first seen.
    public var appeared: Int64 = 0
    /// Wall clock, ns: when `presence` last changed.
    public var changed: Int64 = 0
    /// Wall clock, ns: when it was last heard.
    public var lastSeen: Int64 = 0

    /// The highest sequence number known to have been given out.
    public var sent: UInt64 = 0
    /// Records in the spool.
    public var stored: UInt64 = 0
    /// Records folded into others by a collapsing processor.
    public var collapsed: UInt64 = 0
    /// Records given up with a known reason, by the sender or the agent.
    public var dropped: UInt64 = 0
    /// Sequence numbers that are accounted for: stored, collapsed or dropped.
    public var accounted = IntervalSet()
    /// What is missing, with its time span; at most `Limits.holesMax` of them.
    public var holes: [Hole] = []
    /// Wall clock, ns, of its latest record; nil before the first.
    ///
    /// Not stored.
    public var lastTime: Int64?
    /// The order key of its latest record: no later record of this instance sorts before it.
    public var lastOrder: Int64 = .min

    /// A peer of which nothing is known yet.
    public init(instance: PeerInstance) {
        self.instance = instance
    }

    /// sent = stored + collapsed + dropped + missing, always.
    public var missing: UInt64 {
        let known = stored + collapsed + dropped
        return sent > known ? sent - known : 0
    }
}

/// Records of one instance that were dropped, and why: a row of the books.
public struct Loss: Equatable, Sendable {
    /// Whose.
    public var instance: PeerInstance
    /// The first and the last sequence number.
    public var sequences: ClosedRange<UInt64>
    /// Why, in a few words: `sender queue full`.
    public var reason: String
    /// Wall clock, ns: the span in which it happened.
    public var times: ClosedRange<Int64>

    /// A loss as given.
    public init(
        instance: PeerInstance,
        sequences: ClosedRange<UInt64>,
        reason: String,
        times: ClosedRange<Int64>
    ) {
        self.instance = instance
        self.sequences = sequences
        self.reason = reason
        self.times = times
    }
}
