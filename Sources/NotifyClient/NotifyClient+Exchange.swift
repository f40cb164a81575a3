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
        try Listing.all(of: NameReport.init(listed:)) { last throws(NotifyStatus) in
            try page(.who(prefix: prefix, suffix: suffix, after: last?.info.name ?? ""))
        }
    }

    /// The connections of the bus in order: all of them for user 0 and the broker's own user, one's
    /// own user's for everybody else.
    public func connections() throws(NotifyStatus) -> [ConnectionReport] {
        try Listing.all(of: ConnectionReport.init(from:)) { last throws(NotifyStatus) in
            try page(.connections(after: last?.number ?? 0))
        }
    }

    /// The body of one answer.
    func page(_ operation: Operation) throws(NotifyStatus) -> [UInt8] {
        try mayAsk()
        var batch = NotifyBatch()
        batch.append(operation)
        let result = RequestResult.read(try request(batch))?.first
        guard let result, result.status == .ok else { throw result?.status ?? .failed }
        return result.body
    }
}
