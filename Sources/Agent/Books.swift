internal import Basics
internal import Telemetry

/// The agent's books in memory: a `PeerState` for every instance that is there or was lately, and
/// which of them have changed since the last commit.
///
/// 1. `accounted` of an instance only grows; a number in it is stored, collapsed or dropped.
/// 2. sent = stored + collapsed + dropped + missing.
/// 3. A changed state leaves with the very commit that holds the records which changed it.
/// 4. An instance that is not in memory is in the spool as it was when it was let go, or nowhere:
///    it is looked up there when it comes again, so that no number of it is taken twice.
struct Books {
    /// Sums over instances.
    struct Totals: Equatable {
        var missing: UInt64 = 0
        var dropped: UInt64 = 0

        mutating func add(_ state: PeerState) {
            missing &+= state.missing
            dropped &+= state.dropped
        }

        mutating func subtract(_ state: PeerState) {
            missing &-= state.missing
            dropped &-= state.dropped
        }
    }

    private(set) var peers: [PeerInstance: PeerState] = [:]
    private var changed: Set<PeerInstance> = []
    /// Whose numbers were taken and have not left for the disk, and whose are on the way there.
    private var taken: Set<PeerInstance> = []
    private var leaving: Set<PeerInstance> = []
    private var find: (PeerInstance) -> PeerState?
    /// Of all instances that only the spool knows.
    private var others: Totals

    /// Books with some instances in memory.
    ///
    /// - Parameters:
    ///   - others: the sums over those that are in the spool and not among `present`.
    ///   - find: the spool's word on an instance; nil if it has none.
    init(
        _ present: [PeerState] = [],
        others: Totals = Totals(),
        find: @escaping (PeerInstance) -> PeerState? = { _ in nil }
    ) {
        for state in present { peers[state.instance] = state }
        self.others = others
        self.find = find
    }

    /// The state of an instance, looked up in the spool or made new if it is not in memory.
    subscript(instance: PeerInstance) -> PeerState {
        mutating get {
            if let known = peers[instance] { return known }
            let found = find(instance)
            if let found { others.subtract(found) }
            let state = found ?? PeerState(instance: instance)
            peers[instance] = state
            return state
        }
    }

    /// Changes a state and marks it for the next commit.
    mutating func update<Result>(
        _ instance: PeerInstance,
        _ body: (inout PeerState) -> Result
    ) -> Result {
        if peers[instance] == nil { _ = self[instance] }
        changed.insert(instance)
        return body(&peers[instance, default: PeerState(instance: instance)])
    }

    /// Numbers of this instance are being taken.
    mutating func note(taken instance: PeerInstance) {
        taken.insert(instance)
    }

    /// Everything that has left is on the disk.
    mutating func settle() {
        leaving.removeAll()
    }

    /// True if all that is accounted for of an instance is on the disk.
    func isSettled(_ instance: PeerInstance) -> Bool {
        !taken.contains(instance) && !leaving.contains(instance)
    }

    /// True if something waits for a commit.
    var hasChanges: Bool { !changed.isEmpty }

    /// The changed states, as they are now.
    mutating func takeChanges() -> [PeerState] {
        defer { changed.removeAll() }
        leaving.formUnion(taken)
        taken.removeAll()
        return changed.compactMap { peers[$0] }
    }

    /// How far an instance is accounted for without a hole: what its sender may forget.
    mutating func accountedUpTo(_ instance: PeerInstance) -> UInt64 {
        self[instance].accounted.contiguous
    }

    /// The sums over all instances, in memory or not.
    var totals: Totals {
        var sum = others
        for state in peers.values { sum.add(state) }
        return sum
    }

    /// Lets the spool go; who is not in memory is not found any more.
    ///
    /// The writer must be the last to close it, so that it leaves no log behind.
    mutating func close() {
        find = { _ in nil }
    }

    /// Lets instances that have ended go, the longest gone first, until only `count` are left.
    ///
    /// Only for moments at which no commit is on its way: what is let go must be in the spool.
    mutating func letGo(downTo count: Int, unless isNeeded: (PeerInstance) -> Bool) {
        let ended = peers.values.filter { state in
            (state.presence == .left || state.presence == .died)
                && !changed.contains(state.instance) && !isNeeded(state.instance)
        }
        let over = peers.count - count
        for state in ended.sorted(by: { $0.changed < $1.changed }).prefix(max(0, over)) {
            peers[state.instance] = nil
            others.add(state)
        }
    }
}
