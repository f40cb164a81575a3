public import Telemetry

/// A record on its way into the cold tier or out of it: its numbers, and where its payload lies.
public struct ColumnRecord: Equatable {
    /// Row of `stream`.
    public var stream: Int64
    /// Row of `peer_state`.
    public var instance: Int64
    /// The numbers.
    public var envelope: Envelope
    /// Its place in the order of commits.
    public var store: UInt64
    /// Where its payload lies in the bytes that come with the records.
    public var payload: Range<Int>

    /// A record as given.
    public init(
        stream: Int64,
        instance: Int64,
        envelope: Envelope,
        store: UInt64,
        payload: Range<Int>
    ) {
        self.stream = stream
        self.instance = instance
        self.envelope = envelope
        self.store = store
        self.payload = payload
    }
}
