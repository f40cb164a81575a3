internal import Basics
public import NotifyProtocol

/// What this bus adds for several writers and for whoever looks at it.
extension NotifyClient {
    /// Sets the state if nobody has since `number` (`NameInfo.stateNumber`, an event's), and with
    /// `posts` posts it where it is set.
    ///
    /// - Returns: whether it was set, and what the name holds now: after a conflict the state and
    ///   the number for the next try.
    public func compareAndSet(
        _ token: NotifyToken,
        number: UInt64,
        state value: UInt64,
        posts: Bool = false
    ) throws(NotifyStatus) -> (isSet: Bool, info: NameInfo) {
        try mayAsk()
        var batch = NotifyBatch()
        batch.append(
            .compareAndSet(
                token: UInt32(bitPattern: token),
                number: number,
                state: value,
                posts: posts
            )
        )
        let result = RequestResult.read(try request(batch))?.first
        guard let result, result.status == .ok || result.status == .conflict else {
            throw result?.status ?? .failed
        }
        guard let info = result.info else { throw .failed }
        let isSet = result.status == .ok
        if isSet { remember([(token, value)]) }
        return (isSet, info)
    }

    /// Changes the state by what it is, as one, however many do so at the same time.
    ///
    /// `change` is called again where somebody else was first: each round somebody gets on.
    ///
    /// - Returns: the new state.
    public func update(
        _ token: NotifyToken,
        posts: Bool = false,
        _ change: (UInt64) -> UInt64
    ) throws(NotifyStatus) -> UInt64 {
        var known = try information(token)
        while true {
            let wanted = change(known.state)
            let (isSet, info) = try compareAndSet(
                token,
                number: known.stateNumber,
                state: wanted,
                posts: posts
            )
            if isSet { return wanted }
            known = info
        }
    }

    /// Puts a claim's deadline off without writing.
    ///
    /// - Throws: `claimExpired` if it has passed already, `invalidRequest` if nothing is claimed.
    public func renew(_ token: NotifyToken) throws(NotifyStatus) {
        var batch = NotifyBatch()
        batch.append(.renew(token: UInt32(bitPattern: token)))
        try write(batch, quiet: false)
    }

    /// The names that begin and end so, in the order of their bytes, with all there is to tell.
    public func who(prefix: String, suffix: String = "") throws(NotifyStatus) -> [NameReport] {
        var found: [NameReport] = []
        var isMore = true
        while isMore {
            let after = found.last?.info.name ?? ""
            let body = try page(.who(prefix: prefix, suffix: suffix, after: after))
            let before = found.count
            let hasMore = body.withUnsafeBytes { bytes -> Bool in
                var reader = ByteReader(bytes)
                guard let count = try? reader.u32(), let more = try? reader.u32() else {
                    return false
                }
                for _ in 0..<count {
                    guard var report = try? NameReport(from: &reader),
                        let length = try? reader.u16(),
                        let name = try? reader.text(Int(length))
                    else { return false }
                    _ = try? reader.raw((8 - (Int(length) + 2) % 8) % 8)
                    report.info.name = name
                    found.append(report)
                }
                return more != 0
            }
            isMore = hasMore && found.count > before
        }
        return found
    }

    /// The connections of the bus in order: all of them for user 0 and the broker's own user, one's
    /// own user's for everybody else.
    public func connections() throws(NotifyStatus) -> [ConnectionReport] {
        var found: [ConnectionReport] = []
        var isMore = true
        while isMore {
            let body = try page(.connections(after: found.last?.number ?? 0))
            let before = found.count
            let hasMore = body.withUnsafeBytes { bytes -> Bool in
                var reader = ByteReader(bytes)
                guard let count = try? reader.u32(), let more = try? reader.u32() else {
                    return false
                }
                for _ in 0..<count {
                    guard let report = try? ConnectionReport(from: &reader) else { return false }
                    found.append(report)
                }
                return more != 0
            }
            isMore = hasMore && found.count > before
        }
        return found
    }

    private func page(_ operation: Operation) throws(NotifyStatus) -> [UInt8] {
        try mayAsk()
        var batch = NotifyBatch()
        batch.append(operation)
        let result = RequestResult.read(try request(batch))?.first
        guard let result, result.status == .ok else { throw result?.status ?? .failed }
        return result.body
    }
}
