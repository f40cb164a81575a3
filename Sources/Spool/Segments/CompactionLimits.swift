public import Telemetry

/// When records move from the hot tier to the cold one, and how many at a time.
///
/// Bytes are those of payloads before compression, and 96 for each record beside them, which is
/// what a record takes in memory while it is moved.
public struct CompactionLimits: Sendable {
    /// The hot tier's size at which compaction begins.
    public var hotBytes: Int
    /// Batches of the hot tier at which compaction begins: lists of them stay short.
    public var hotBatches: Int
    /// What stays hot at the least: the newest records are asked for most, and come fastest there.
    public var keptBytes: Int
    /// How long a hot tier of `smallBytes` waits for more, ns.
    public var age: UInt64
    /// The most that goes into one segment; it is held in memory.
    public var segmentBytes: Int
    /// A segment smaller than this is joined with what comes next, so that files do not pile up.
    public var smallBytes: Int

    /// Limits as given; without arguments those of the agent.
    public init(
        hotBytes: Int = Limits.hotBytes,
        hotBatches: Int = Limits.hotBatchesMax,
        keptBytes: Int = Limits.hotBytesKept,
        age: UInt64 = Limits.hotAge,
        segmentBytes: Int = Limits.segmentBytes,
        smallBytes: Int = Limits.segmentBytesSmall
    ) {
        self.hotBytes = hotBytes
        self.hotBatches = hotBatches
        self.keptBytes = keptBytes
        self.age = age
        self.segmentBytes = segmentBytes
        self.smallBytes = smallBytes
    }
}
