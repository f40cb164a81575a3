internal import Basics
internal import NotifyProtocol

extension BrokerState {
    /// Does one of the frequent operations, straight from the frame; nil for the others.
    mutating func performQuick(
        _ head: OperationHead,
        _ connection: Connection,
        _ frame: UnsafeRawBufferPointer,
        now: UInt64
    ) -> NotifyStatus? {
        let code = Operation.Code(rawValue: head.code)
        switch code {
        case .set, .post, .setAndPost, .poolWrite, .cancel, .suspend, .resume, .renew: break
        default: return nil
        }
        guard let subscription = connection.registration(head.u32(frame, 0)) else {
            return .invalidToken
        }
        switch code {
        case .cancel:
            cancel(subscription)
            return .ok
        case .suspend:
            suspend(subscription)
            return .ok
        case .resume:
            resume(subscription)
            return .ok
        case .renew: return renew(subscription, now: now)
        default: break
        }
        let name = subscription.name
        let refusal = touch(name, by: subscription, now: now)
        guard refusal == .ok else { return refusal }
        switch code {
        case .set:
            name.set(head.u64(frame, 8), now: now)
            return .ok
        case .setAndPost:
            // Both, or neither: a post over the quota does not leave its state behind.
            guard mayPost(name, connection, now: now) else { return .overQuota }
            name.set(head.u64(frame, 8), now: now)
            post(name, by: connection, cause: .post)
            return .ok
        case .post:
            guard mayPost(name, connection, now: now) else { return .overQuota }
            post(name, by: connection, cause: .post)
            return .ok
        default:
            return writePool(name, head, frame)
        }
    }

    private mutating func writePool(
        _ name: Name,
        _ head: OperationHead,
        _ frame: UnsafeRawBufferPointer
    )
        -> NotifyStatus
    {
        let offset = Int(head.u32(frame, 4))
        let words = head.start + 8..<head.end
        guard offset + words.count / 8 <= name.poolCount else { return .invalidRequest }
        spend(words.count / Work.bytesPerUnit)
        name.memory.write(
            UnsafeRawBufferPointer(rebasing: frame[words]),
            at: name.poolBase + offset
        )
        return .ok
    }

    /// Does one of the other operations; what it answers beside the status is appended.
    ///
    /// Nil for a listing that has to go on in another turn.
    mutating func perform(
        _ head: OperationHead,
        _ connection: Connection,
        _ frame: UnsafeRawBufferPointer,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus? {
        var reader = ByteReader(
            UnsafeRawBufferPointer(rebasing: frame[head.start - OperationHead.bytes..<head.end])
        )
        guard let operation = try? Operation(from: &reader) else { return .invalidRequest }
        switch operation {
        case .register(let wanted): return register(wanted, connection, &writer, now: now)
        case .goodbye:
            connection.saidGoodbye = true
            return .ok
        case .postName(let text): return post(named: text, by: connection, now: now)
        case .list(let prefix, let suffix, let after):
            let page = NamePage(prefix: prefix, suffix: suffix, after: after)
            return list(page, isLong: false, connection, &writer)
        case .who(let prefix, let suffix, let after):
            let page = NamePage(prefix: prefix, suffix: suffix, after: after)
            return list(page, isLong: true, connection, &writer)
        case .connections(let after):
            return listConnections(after, connection, &writer)
        case .inspect(let token):
            guard let subscription = connection.registration(token) else { return .invalidToken }
            info(subscription.name).append(to: &writer)
            return .ok
        case .compareAndSet(let token, let number, let state, let posts):
            guard let subscription = connection.registration(token) else { return .invalidToken }
            let wanted = Exchange(number: number, state: state, posts: posts)
            return exchange(wanted, subscription, &writer, now: now)
        default: return .invalidRequest
        }
    }

    private mutating func post(named text: String, by connection: Connection, now: UInt64)
        -> NotifyStatus
    {
        guard Frames.isValid(name: text) else { return .invalidName }
        guard let name = names[text] else {
            // Nobody is registered: nothing is remembered, as on Darwin; a refusal is told all the
            // same.
            return mayPost(text, connection.identity) ? .ok : .notAuthorized
        }
        guard name.access.rights(of: connection.identity).contains(.write) else {
            return .notAuthorized
        }
        if let claim = name.claim, claim.connection != connection.number { return .notAuthorized }
        guard mayPost(name, connection, now: now) else { return .overQuota }
        name.claim?.renewedAt = now
        post(name, by: connection, cause: .post)
        return .ok
    }

    private func mayPost(_ text: String, _ identity: Identity) -> Bool {
        let verdict = rules.verdict(text)
        var access = verdict.access
        if let key = verdict.family {
            guard let family = families[NameKey(text: key)] else { return true }
            access.uid = family.uid
        }
        return access.rights(of: identity).contains(.write)
    }

    private struct Exchange {
        var number: UInt64
        var state: UInt64
        var posts: Bool
    }

    private mutating func exchange(
        _ wanted: Exchange,
        _ subscription: Subscription,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        let name = subscription.name
        let refusal = touch(name, by: subscription, now: now)
        guard refusal == .ok else { return refusal }
        let isCurrent = wanted.number == name.stateNumber
        if isCurrent {
            if wanted.posts, !mayPost(name, subscription.connection, now: now) {
                return .overQuota
            }
            name.set(wanted.state, now: now)
            if wanted.posts { post(name, by: subscription.connection, cause: .post) }
        }
        info(name).append(to: &writer)
        return isCurrent ? .ok : .conflict
    }

    /// Whether a registration may write its name now; a claimer's write renews its claim.
    @inline(__always)
    func touch(_ name: Name, by subscription: Subscription, now: UInt64) -> NotifyStatus {
        guard subscription.mayWrite else { return .notAuthorized }
        if let claim = name.claim {
            guard claim.connection == subscription.connection.number else { return .notAuthorized }
            claim.renewedAt = now
            return .ok
        }
        // A claimer that was too late must learn of it before it writes as if nothing had been.
        return subscription.claim?.hasExpired == true ? .claimExpired : .ok
    }

    private func renew(_ subscription: Subscription, now: UInt64) -> NotifyStatus {
        let status = touch(subscription.name, by: subscription, now: now)
        guard status == .ok else { return status }
        return subscription.name.claim == nil ? .invalidRequest : .ok
    }

    /// Takes a post out of the sender's quota: the more subscribers, the more it costs.
    @inline(__always)
    func mayPost(_ name: Name, _ connection: Connection, now: UInt64) -> Bool {
        let cost = 1 + name.listeners.count / Self.subscribersPerPost
        if connection.account.mayPost(cost, now: now), connection.user.mayPost(cost, now: now) {
            return true
        }
        connection.report.quotaHits.posts &+= 1
        return false
    }

    /// Subscribers that a post's worth of time reaches, about: a frame of 4,096 posts to many would
    /// otherwise hold everybody else up for seconds.
    private static var subscribersPerPost: Int { 2 }
}
