internal import Telemetry

/// The bounds of the product, as `intel status` prints them.
enum LimitsTable {
    /// Every bound of the product, by name; the unit comes last in it.
    static let all: [(name: String, value: UInt64)] = [
        ("ping_interval_ns", Limits.pingInterval),
        ("lost_after_ns", Limits.lostAfter),
        ("ring_registers", UInt64(Limits.ringRegisters)),
        ("ring_bytes", UInt64(Limits.ringBytes)),
        ("transfers_max", UInt64(Limits.transfersMax)),
        ("transfer_bytes", UInt64(Limits.transferBytes)),
        ("transfer_bytes_max", UInt64(Limits.transferBytesMax)),
        ("message_bytes_max", UInt64(Limits.messageBytesMax)),
        ("queue_bytes_max", UInt64(Limits.queueBytesMax)),
        ("queue_messages_max", UInt64(Limits.queueMessagesMax)),
        ("unacknowledged_batch_max", UInt64(Limits.unacknowledgedBatchMax)),
        ("unacknowledged_pause_ns", Limits.unacknowledgedPause),
        ("sequence_max", Limits.sequenceMax),
        ("drops_per_transfer_max", UInt64(Limits.dropsPerTransferMax)),
        ("deliveries_max", UInt64(Limits.deliveriesMax)),
        ("stream_buffer_max", UInt64(Limits.streamBufferMax)),
        ("flush_timeout_ns", Limits.flushTimeout),
        ("stop_timeout_ns", Limits.stopTimeout),
        ("linger_seconds", UInt64(Limits.lingerSeconds)),
        ("name_bytes_max", UInt64(Limits.nameBytesMax)),
        ("peers_max", UInt64(Limits.peersMax)),
        ("kinds_max", UInt64(Limits.kindsMax)),
        ("holes_max", UInt64(Limits.holesMax)),
        ("batch_bytes", UInt64(Limits.batchBytes)),
        ("batch_bytes_max", UInt64(Limits.batchBytesMax)),
        ("batch_delay_ns", Limits.batchDelay),
        ("batches_queued_max", UInt64(Limits.batchesQueuedMax)),
        ("batch_raw_bytes_max", UInt64(Limits.batchRawBytesMax)),
        ("hot_bytes", UInt64(Limits.hotBytes)),
        ("hot_batches_max", UInt64(Limits.hotBatchesMax)),
        ("hot_bytes_kept", UInt64(Limits.hotBytesKept)),
        ("hot_age_ns", Limits.hotAge),
        ("segment_bytes", UInt64(Limits.segmentBytes)),
        ("segment_bytes_small", UInt64(Limits.segmentBytesSmall)),
        ("checkpoint_bytes", UInt64(Limits.checkpointBytes)),
        ("wal_bytes_max", UInt64(Limits.walBytesMax)),
    ]
}
