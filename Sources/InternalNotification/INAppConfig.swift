internal import LinuxIO

/// Who a program is, for its siblings on a channel.
public struct INAppConfig: Sendable, Equatable {
    /// The program, by reverse-DNS convention: 1 to 255 UTF-8 bytes.
    public var identifier: String
    /// The vendor's public team key: an identifier, not a secret; everybody on the bus can read it.
    public var apikey: String
    /// The bus socket; by default `INTEL_BUS`, the system's, or the user's own.
    public var busPath: String

    /// A configuration.
    public init(identifier: String, apikey: String = "", busPath: String? = nil) {
        self.identifier = identifier
        self.apikey = apikey
        self.busPath = busPath ?? BusPath.find()
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
    /// Messages dropped because the queue was full.
    public var dropped: UInt64
    /// Messages refused before they got a number: not JSON, too large, bad kind.
    public var refused: UInt64
    /// Messages that wait in memory.
    public var waiting: Int
    /// True while the bus is there.
    public var isAttached: Bool
    /// True while a collector acknowledges.
    public var hasCollector: Bool
}
