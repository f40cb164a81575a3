/// Memory for what a batch unpacks to; all of it goes, or is used again, at once.
///
/// Every allocation can be read and written 32 bytes past its end, so that short copies need no
/// care. One thread owns it.
final class Arena {
    private static let chunkBytes = 1 << 20
    private static let slack = 32

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The chunk that is being used, and what of it.
    private var current = 0
    private var used = 0
    /// Bytes given out since the last `reset`.
    private(set) var total = 0
    private let limit: Int

    /// At most `limit` bytes will be given out.
    init(limit: Int) {
        self.limit = limit
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Takes everything back; chunks beyond the first few go.
    func reset() {
        while chunks.count > 8 { chunks.removeLast().deallocate() }
        current = 0
        used = 0
        total = 0
    }

    /// Room for `count` values, not initialised.
    func allocate<T: BitwiseCopyable>(
        _: T.Type,
        _ count: Int
    ) throws(DamagedBatch) -> UnsafeMutablePointer<T> {
        let (size, isOver) = count.multipliedReportingOverflow(by: MemoryLayout<T>.stride)
        guard !isOver, size >= 0, size <= limit - total else {
            throw DamagedBatch(reason: "unpacks to more than allowed")
        }
        total += size
        let room = (size + 2 * Self.slack) & ~15
        while current < chunks.count, chunks[current].count - used < room {
            current += 1
            used = 0
        }
        if current == chunks.count {
            chunks.append(.allocate(byteCount: max(room, Self.chunkBytes), alignment: 64))
            used = 0
        }
        let chunk = UnsafeMutableRawBufferPointer(rebasing: chunks[current][used..<used + room])
        used += room
        guard let start = chunk.bindMemory(to: T.self).baseAddress else {
            throw DamagedBatch(reason: "out of memory")
        }
        return start
    }
}
