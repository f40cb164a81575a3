internal import LinuxIO
public import NotifyProtocol
internal import Synchronization

extension NotifyClient {
    /// Copies registers of a pool.
    ///
    /// No system call.
    public func readPool(
        _ token: NotifyToken,
        at start: Int,
        count: Int,
        into words: inout [UInt64]
    )
        throws(NotifyStatus)
    {
        guard isOurs else { throw .invalidToken }
        let (entry, layout) = state.withLock { ($0.entries[token], $0.layout) }
        guard let info = entry?.info else { throw .invalidToken }
        guard start >= 0, count >= 0, start <= info.poolCount - count else { throw .invalidRequest }
        let word = table.word(token)
        guard word != 0 else { throw .serverNotFound }
        guard let source = view.pool(info, from: start, count: count, layout) else {
            throw .invalidRequest
        }
        words = [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
            filled = count
        }
        // A re-attach in between may have put another broker's memory under the same address.
        SharedWords.fence()
        if table.word(token) != word { throw .serverNotFound }
    }

    /// Asks the broker about a token's name.
    ///
    /// A pool that was claimed after the token was registered can be read from then on.
    public func information(_ token: NotifyToken) throws(NotifyStatus) -> NameInfo {
        guard isValid(token) else { throw .invalidToken }
        try mayAsk()
        let attach = attachNumber
        var batch = NotifyBatch()
        batch.append(.inspect(token: UInt32(bitPattern: token)))
        let result = RequestResult.read(try request(batch))?.first
        guard result?.status == .ok else { throw result?.status ?? .failed }
        guard let info = result?.info else { throw .failed }
        // What an earlier broker has said is nothing to find a pool by.
        state.withLock { state in
            if state.attaches == attach { state.entries[token]?.info = info }
        }
        return info
    }

    /// The names that begin and end so, in order.
    public func list(prefix: String, suffix: String = "") throws(NotifyStatus) -> [NameInfo] {
        try Listing.all(of: NameInfo.init(listed:)) { last throws(NotifyStatus) in
            try page(.list(prefix: prefix, suffix: suffix, after: last?.name ?? ""))
        }
    }
}
