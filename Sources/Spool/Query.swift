/// Which records are wanted, and in which direction.
///
/// Everything that is nil or empty lets all pass; several globs of one list are OR, different
/// conditions AND.
public struct Query: Sendable {
    /// The earliest `time`, inclusive, ns since 1970.
    public var since: Int64?
    /// The latest `time`, inclusive, ns since 1970.
    public var until: Int64?
    /// Patterns for the sender's identifier.
    public var peers: [Glob]
    /// Patterns for the kind.
    public var kinds: [Glob]
    /// Levels by number: `0...3` is errors and worse.
    public var levels: ClosedRange<UInt8>?
    /// A text that the payload must hold.
    public var text: TextPattern?
    /// Only the newest so many that match.
    public var last: Int?
    /// Newest first.
    public var reverse: Bool
    /// What only SQL asks.
    var conditions = Conditions()

    /// A query; without arguments, everything in order.
    public init(
        since: Int64? = nil,
        until: Int64? = nil,
        peers: [Glob] = [],
        kinds: [Glob] = [],
        levels: ClosedRange<UInt8>? = nil,
        text: TextPattern? = nil,
        last: Int? = nil,
        reverse: Bool = false
    ) {
        self.since = since
        self.until = until
        self.peers = peers
        self.kinds = kinds
        self.levels = levels
        self.text = text
        self.last = last
        self.reverse = reverse
    }

    /// True if names or levels matter.
    var choosesGroups: Bool {
        !peers.isEmpty || !kinds.isEmpty || levels != nil || conditions.choosesGroups
    }

    /// True if a record of this time is wanted.
    func wants(time: Int64) -> Bool {
        if let since, time < since { return false }
        if let until, time > until { return false }
        return true
    }

    /// True if a record of this level is wanted.
    func wants(level: UInt8) -> Bool {
        (levels?.contains(level) ?? true) && conditions.wants(level: level)
    }

    /// True if any record between two times can be wanted.
    func mayWant(times: ClosedRange<Int64>) -> Bool {
        if let since, times.upperBound < since { return false }
        if let until, times.lowerBound > until { return false }
        return true
    }

    /// True if every record between two times is wanted, as far as time goes.
    func wantsAll(times: ClosedRange<Int64>) -> Bool {
        wants(time: times.lowerBound) && wants(time: times.upperBound)
    }
}
