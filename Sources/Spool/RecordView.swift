public import Telemetry

/// A record while a reader hands it out: the same as `Record`, with the payload where it lies.
public struct RecordView: ~Copyable {
    /// The sender.
    public let instance: PeerInstance
    /// The sender's process, by the kernel.
    public let pid: Int32
    /// The sender's user, by the kernel.
    public let uid: UInt32
    /// What sort of record.
    public let kind: String
    /// Its numbers.
    public let envelope: Envelope
    /// Its place in the order of commits, from 1.
    public let store: UInt64
    /// The payload's bytes; valid during the call that got this view, and no longer.
    public let payload: UnsafeRawBufferPointer

    /// Its unique name.
    public var id: RecordID { RecordID(instance: instance, sequence: envelope.sequence) }

    /// The record with a payload of its own, to keep.
    public func copy() -> Record {
        Record(
            instance: instance,
            pid: pid,
            uid: uid,
            kind: kind,
            envelope: envelope,
            store: store,
            payload: Array(payload)
        )
    }
}
