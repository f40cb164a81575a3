internal import Basics
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
        var batch = NotifyBatch()
        batch.append(.inspect(token: UInt32(bitPattern: token)))
        let result = RequestResult.read(try request(batch))?.first
        guard result?.status == .ok else { throw result?.status ?? .failed }
        guard let info = result?.info else { throw .failed }
        state.withLock { $0.entries[token]?.info = info }
        return info
    }

    /// The names that begin and end so, in order.
    public func list(prefix: String, suffix: String = "") throws(NotifyStatus) -> [NameInfo] {
        try mayAsk()
        var found: [NameInfo] = []
        var isMore = true
        while isMore {
            var batch = NotifyBatch()
            let after = found.last?.name ?? ""
            batch.append(.list(prefix: prefix, suffix: suffix, after: after))
            let result = RequestResult.read(try request(batch))?.first
            guard let result, result.status == .ok else { throw result?.status ?? .failed }
            let before = found.count
            isMore = Self.readList(result.body, into: &found) && found.count > before
        }
        return found
    }

    private static func readList(_ body: [UInt8], into found: inout [NameInfo]) -> Bool {
        body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = try? reader.u32(), let more = try? reader.u32() else { return false }
            for _ in 0..<count {
                guard var info = try? NameInfo(from: &reader), let length = try? reader.u16(),
                    let name = try? reader.text(Int(length))
                else { return false }
                _ = try? reader.raw((8 - (Int(length) + 2) % 8) % 8)
                info.name = name
                found.append(info)
            }
            return more != 0
        }
    }
}
