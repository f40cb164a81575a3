internal import Basics
internal import Telemetry

/// The agent's books in memory: one `PeerState` for every instance, and which of them have changed
/// since the last commit.
///
/// 1. `accounted` of an instance only grows; a number in it is stored, collapsed or dropped.
/// 2. sent = stored + collapsed + dropped + missing.
/// 3. A changed state leaves with the very commit that holds the records which changed it.
struct Books {
    private(set) var peers: [PeerInstance: PeerState] = [:]
    private var changed: Set<PeerInstance> = []

    init(_ states: [PeerState] = []) {
        for state in states { peers[state.instance] = state }
    }

    /// The state of an instance, made new for a newcomer.
    subscript(instance: PeerInstance) -> PeerState {
        peers[instance] ?? PeerState(instance: instance)
    }

    /// Changes a state and marks it for the next commit.
    mutating func update<Result>(
        _ instance: PeerInstance,
        _ body: (inout PeerState) -> Result
    ) -> Result {
        changed.insert(instance)
        return body(&peers[instance, default: PeerState(instance: instance)])
    }

    /// True if something waits for a commit.
    var hasChanges: Bool { !changed.isEmpty }

    /// The changed states, as they are now.
    mutating func takeChanges() -> [PeerState] {
        defer { changed.removeAll() }
        return changed.compactMap { peers[$0] }
    }

    /// How far an instance is accounted for without a hole: what its sender may forget.
    func accountedUpTo(_ instance: PeerInstance) -> UInt64 {
        peers[instance]?.accounted.contiguous ?? 0
    }
}
