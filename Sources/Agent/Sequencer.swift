internal import Telemetry

/// Gives every record its order key and puts a batch into the order of output.
///
/// The key is the record's `time`, but never after `received` (a sender from the future does not
/// stay on top for ever) and never before an earlier record of the same instance (a clock that
/// steps back does not turn a peer's story around). Readers merge batches by the same key, so a
/// record that comes late is stored at once and is still shown in its place.
enum Sequencer {
    /// Sets `order` of the next record of an instance.
    static func place(_ envelope: inout Envelope, in state: inout PeerState) {
        envelope.order = max(state.lastOrder, min(envelope.time, envelope.received))
        state.lastOrder = envelope.order
    }

    /// Sorts by order key; records of one instance keep their order of arrival where keys are
    /// equal.
    static func sort(_ batch: inout RecordBatch) {
        var isSorted = true
        for index in batch.entries.indices.dropFirst()
        where batch.entries[index - 1].envelope.order > batch.entries[index].envelope.order {
            isSorted = false
            break
        }
        if isSorted { return }
        let entries = batch.entries
        // The standard sort is stable in fact but not by contract; the index settles ties.
        let order = entries.indices.sorted { left, right in
            let (a, b) = (entries[left].envelope.order, entries[right].envelope.order)
            return a == b ? left < right : a < b
        }
        batch.entries = order.map { entries[$0] }
    }
}
