/// Bounds of the format that concern nobody but this room.
enum SpoolLimits {
    /// Payload bytes of one stored batch: a larger commit is cut, so that a reader's memory stays
    /// small.
    ///
    /// One larger record makes a batch of its own.
    static let batchPayloadBytes = 1 << 20
    /// Records of one stored batch.
    static let batchRecords = 1 << 16
    /// Records of one segment: more are not gathered, and a row that says more is damaged.
    static let segmentRecords = 1 << 24
    /// Payload bytes of one cold batch: larger ones compress no better.
    static let coldBatchBytes = 1 << 20
    /// Streams with fewer payload bytes in a segment share a batch.
    static let sharedStreamBytes = 32 << 10
    /// What a record takes beside its payload while it is compacted.
    static let recordBytes = 96
    /// Segments that a reader keeps open.
    static let segmentsOpen = 16
    /// Bytes of one record's envelope in frame 1 at the most: seven varints of ten bytes.
    static let envelopeBytesMax = 70
    /// Bytes of unpacked batches that a merge holds; above it, waiting ones are let go.
    static let mergeBytes = 64 << 20
    /// Batches looked for one by one behind a damaged page: a forged last number costs no hours.
    static let salvageBatches: Int64 = 1 << 20
    /// zstd level of the hot tier: speed first (SPOOL.md, 3b).
    static let level: Int32 = 1
    /// zstd level of the cold tier: columns are small, so that 9 costs little (SPOOL.md, 3b).
    static let coldLevel: Int32 = 9
    /// How many places level 9 looks at for a match, 2^4, as it does for inputs above 256 KiB.
    static let coldSearchLog: Int32 = 4
    /// Bytes of a match at the least, as for inputs above 256 KiB.
    static let coldMinMatch: Int32 = 5
    /// How many places are kept, 2^16: as many as a core's cache has room for.
    ///
    /// With the two above it is a sixth faster than level 9 by itself, takes 12 MB less, and packs
    /// the benchmark's corpus 0.4 % larger.
    static let coldHashLog: Int32 = 16
    /// No window of a batch is larger than the largest batch: 2^26 = `Limits.batchRawBytesMax`.
    static let windowLogMax: Int32 = 26
    /// Row numbers of instances, and of streams, that the writer keeps in memory.
    static let namesMax = 20_000
    /// How often a writer tries to get the lock, every 20 ms.
    static let lockAttempts = 15
    /// How long a connection waits for a lock, in milliseconds.
    static let busyTimeout: Int32 = 5000
    /// Bytes of hot.db up to which it is checked before the agent writes into it: some seconds.
    static let openingBytesMax: Int64 = 512 << 20
    /// Damaged batches that are told one by one when the agent starts.
    static let findingsMax = 16
    /// How long a truncating checkpoint may hold up the writer, in milliseconds.
    static let truncateTimeout: Int32 = 200
}
