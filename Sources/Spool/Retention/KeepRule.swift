/// What is kept of some peers and kinds, other than the bounds that hold for all.
///
/// The first rule that fits counts for a peer and kind. Its numbers are for each of them alone.
public struct KeepRule: Equatable, Sendable {
    /// The peers, by identifier.
    public var peer: Glob
    /// The kinds.
    public var kind: Glob
    /// Records older than this go, ns; nil for the age that holds for all.
    public var age: UInt64?
    /// Records at the most; nil for no bound of its own.
    public var records: UInt64?
    /// So many of the newest stay, whatever any other bound says.
    public var least: UInt64 = 0

    /// A rule without bounds.
    public init(peer: Glob, kind: Glob = Glob("*")) {
        self.peer = peer
        self.kind = kind
    }

    /// True if it is for records of this peer and kind.
    public func fits(peer: String, kind: String) -> Bool {
        self.peer.matches(peer) && self.kind.matches(kind)
    }

    /// True where each peer and kind is counted for itself.
    var counts: Bool { records != nil || least > 0 }
}
