internal import Spool
internal import Telemetry

/// Gathers records until a commit is worth it.
///
/// One commit runs at a time, and while it runs the next batch gathers: no timer on the path of
/// whoever waits. Where nobody waits, a batch goes at `Limits.batchBytes` or after `batchDelay`.
struct Batcher {
    private static let recordBytes = MemoryLayout<RecordBatch.Entry>.stride
    private static let lossBytes = 256

    var records = RecordBatch()
    var losses: [Loss] = []
    /// Somebody waits for the acknowledgement.
    var isUrgent = false
    private var since: UInt64?

    /// Bytes gathered, and what the numbers and losses beside them take.
    var bytes: Int {
        records.payloadBytes + records.count * Self.recordBytes + losses.count * Self.lossBytes
    }
    /// False when the bus should be left alone until a commit has ended.
    var hasRoom: Bool { bytes < Limits.batchBytesMax }

    /// Notes that something is in the batch from `now` on.
    mutating func begin(now: UInt64) {
        if since == nil { since = now }
    }

    /// True if the batch should be committed now.
    func isDue(now: UInt64) -> Bool {
        guard let since else { return false }
        return isUrgent || records.payloadBytes >= Limits.batchBytes || !hasRoom
            || now >= since + Limits.batchDelay
    }

    /// When `isDue` turns true by itself.
    var due: UInt64? { since.map { $0 + Limits.batchDelay } }

    /// Hands the batch over and starts an empty one.
    mutating func take() -> (records: RecordBatch, losses: [Loss]) {
        defer { self = Batcher() }
        Sequencer.sort(&records)
        return (records, losses)
    }
}
