internal import NotifyClient
internal import Telemetry

/// Who a program is, for its siblings on a channel.
public struct INAppConfig: Sendable, Equatable {
    /// The program, by reverse-DNS convention: 1 to 255 UTF-8 bytes, no `|`.
    public var identifier: String
    /// The vendor's public team key: an identifier, not a secret; everybody on the bus can read it.
    ///
    /// At most 255 bytes.
    public var apikey: String
    /// The bus socket; by default `INTEL_BUS`, the system's, or the user's own.
    public var busPath: String

    /// A configuration.
    public init(identifier: String, apikey: String = "", busPath: String? = nil) {
        self.identifier = identifier
        self.apikey = apikey
        self.busPath = busPath ?? BusPlace.find()
    }

    /// Why nobody can be called so; such a program is never announced, and its messages are
    /// refused.
    public var fault: INError? {
        let isFit =
            (1...Limits.nameBytesMax).contains(identifier.utf8.count) && !identifier.contains("|")
            && apikey.utf8.count <= Limits.nameBytesMax
        return isFit ? nil : .invalidIdentity(identifier)
    }
}

/// What a sender has done so far.
///
/// Always: sent = stored + waiting + dropped.
public struct INStatistics: Sendable, Equatable {
    /// Messages taken by `send`.
    public var sent: UInt64
    /// Messages that a collector has committed.
    public var stored: UInt64
    /// Messages that were given up: the queue was full, or they do not fit the ring.
    ///
    /// A collector may have stored some of them all the same.
    public var dropped: UInt64
    /// Messages refused before they got a number: not JSON, too large, bad kind.
    public var refused: UInt64
    /// Messages that wait in memory.
    public var waiting: Int
    /// Those of them that a collector could not read now: they are not in the ring yet, or had to
    /// go from it since nobody collects.
    ///
    /// What is left of them after `stop` was sent to nobody.
    public var unsent: UInt64
    /// True while the bus is there; after `stop`, whether it was there to the end.
    public var isAttached: Bool
    /// True while a collector acknowledges.
    public var hasCollector: Bool
    /// Messages and changes that a sequence of the center has lost, since its reader was too slow.
    public var overflowed: UInt64
}
