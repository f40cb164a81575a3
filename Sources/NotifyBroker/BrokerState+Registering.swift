internal import Basics
internal import NotifyProtocol

/// How registrations, claims and names come and go.
extension BrokerState {
    mutating func register(
        _ wanted: Registration,
        _ connection: Connection,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        spend(Work.registration + wanted.pool * 8 / Work.bytesPerUnit)
        guard Frames.isValid(name: wanted.name) else { return .invalidName }
        guard connection.registrations[wanted.token] == nil else { return .invalidToken }
        guard (0...Frames.poolRegistersMax).contains(wanted.pool) else { return .invalidRequest }
        guard mayRegister(connection) else { return .overQuota }
        let existing = names[wanted.name]
        let needs: Access.Rights = wanted.claims || wanted.pool > 0 ? .all : .read
        let place: Place
        if let existing {
            place = Place(access: existing.access, family: existing.family?.key)
        } else {
            let found = access(of: wanted.name, for: connection.identity, wanted)
            guard let found else { return .notAuthorized }
            place = found
        }
        let rights = place.access.rights(of: connection.identity)
        guard rights.isSuperset(of: needs) else { return .notAuthorized }
        if let existing, needs == .all {
            let refusal = mayClaim(existing, wanted, connection)
            guard refusal == .ok else { return refusal }
        }
        let name: Name
        do throws(NotifyStatus) {
            if let existing {
                name = existing
            } else {
                name = try make(wanted.name, place, connection, now: now)
            }
        } catch {
            return error
        }
        let pooled = preparePool(name, wanted, connection)
        guard pooled == .ok else {
            freeIfUnused(name)
            return pooled
        }
        let subscription = Subscription(
            token: wanted.token,
            connection: connection,
            name: name,
            delivers: wanted.delivers,
            mayWrite: rights.contains(.write)
        )
        add(subscription)
        if wanted.claims {
            claim(name, wanted, subscription, now: now)
        } else {
            recall(name, wanted, subscription, now: now)
        }
        handOut(name.memory, to: connection)
        info(name).append(to: &writer)
        return .ok
    }

    private func mayRegister(_ connection: Connection) -> Bool {
        let isBelow =
            connection.account.registrations < connection.account.limits.registrations
            && connection.user.registrations < connection.user.limits.registrations
        if !isBelow { connection.report.quotaHits.registrations &+= 1 }
        return isBelow
    }

    private func mayClaim(_ name: Name, _ wanted: Registration, _ connection: Connection)
        -> NotifyStatus
    {
        if let claim = name.claim, claim.connection != connection.number {
            let isBack =
                wanted.reclaims && claim.lingersUntil != nil
                && claim.isHeld(by: connection.identity)
            guard isBack else { return .notAuthorized }
        }
        guard wanted.pool == 0 || name.poolCount == 0 || name.poolCount == wanted.pool else {
            return .invalidRequest
        }
        return .ok
    }

    /// Where a name would be made, and for whom.
    struct Place {
        var access: Access
        var family: NameKey?
    }

    /// What the rules say of a name that does not exist yet; nil if nobody may make it now.
    func access(
        of text: String,
        for identity: Identity,
        _ wanted: Registration? = nil
    ) -> Place? {
        let verdict = rules.verdict(text)
        guard let key = verdict.family.map({ NameKey(text: $0) }) else {
            return Place(access: verdict.access)
        }
        var access = verdict.access
        if let family = families[key] {
            access.uid = family.uid
        } else {
            let readsAll = identity.uid == 0 || identity.isMember(of: access.gid)
            let owner = readsAll ? wanted?.owner ?? 0 : 0
            // Somebody who may read everybody's looks before the owner is there: it would become
            // the owner, and lock the other out. After a restart it says for whom it comes.
            if readsAll, owner == 0, wanted?.claims != true { return nil }
            access.uid = owner == 0 ? identity.uid : owner
        }
        return Place(access: access, family: key)
    }

    private mutating func make(
        _ text: String,
        _ place: Place,
        _ connection: Connection,
        now: UInt64
    ) throws(NotifyStatus) -> Name {
        let user = connection.user
        guard user.names < user.limits.names,
            connection.account.names < connection.account.limits.names
        else {
            connection.report.quotaHits.names &+= 1
            throw .overQuota
        }
        guard let name = make(text, place, now: now) else { throw .failed }
        name.payers = connection.payers
        connection.account.names += 1
        user.names += 1
        return name
    }

    private mutating func make(_ text: String, _ place: Place, now: UInt64) -> Name? {
        guard let memory = memory(for: place.access.readers) else { return nil }
        guard let slot = memory.takeSlot() else {
            freeIfUnused(memory)
            return nil
        }
        var family: Family?
        if let key = place.family {
            let found = families[key] ?? Family(key: key, uid: place.access.uid)
            families[key] = found
            found.names += 1
            family = found
        }
        let name = Name(
            text: text,
            memory: memory,
            slot: slot,
            access: place.access,
            family: family,
            now: now
        )
        names.insert(name)
        figures.names += 1
        return name
    }

    /// Makes a name that a rule holds.
    mutating func pin(_ pinned: AccessRules.Pinned, now: UInt64) {
        let access = rules.verdict(pinned.name).access
        let existing = names[pinned.name]
        guard let name = existing ?? make(pinned.name, Place(access: access), now: now) else {
            return
        }
        name.isPinned = true
        name.set(pinned.state, now: now)
    }

    /// The memory file of a class of readers, made where there is none yet.
    private mutating func memory(for readers: Access.Readers?) -> RegisterMemory? {
        guard let readers else { return memories[0] }
        if let found = classes[readers] { return found }
        spend(Work.memoryFile)
        let free = memories.firstIndex { $0 == nil } ?? memories.count
        guard free < Frames.memoriesMax, let file = makeMemory(.restricted) else { return nil }
        let made = RegisterMemory(number: free, readers: readers, layout: .restricted, file: file)
        if free == memories.count { memories.append(made) } else { memories[free] = made }
        classes[readers] = made
        return made
    }

    private mutating func freeIfUnused(_ memory: RegisterMemory) {
        guard let readers = memory.readers, memory.slotsInUse == 0 else { return }
        classes[readers] = nil
        memories[memory.number] = nil
        for connection in connections.values { connection.memories.remove(memory.number) }
    }

    private mutating func handOut(_ memory: RegisterMemory, to connection: Connection) {
        guard memory.number != 0, connection.memories.insert(memory.number).inserted else { return }
        handouts.append(memory)
    }

    private mutating func preparePool(
        _ name: Name,
        _ wanted: Registration,
        _ connection: Connection
    ) -> NotifyStatus {
        guard wanted.pool > 0 else { return .ok }
        // Left by an earlier claimer and still read by others: the next one begins with zeros.
        if name.poolCount > 0 {
            name.memory.clear(pool: name.poolBase, count: name.poolCount)
            return .ok
        }
        let (own, user) = (connection.account, connection.user)
        guard own.poolWords + wanted.pool <= own.limits.poolWords,
            user.poolWords + wanted.pool <= user.limits.poolWords
        else {
            connection.report.quotaHits.poolWords &+= 1
            return .overQuota
        }
        guard let base = name.memory.takePool(wanted.pool) else { return .failed }
        name.pool = Pool(base: base, count: wanted.pool, payers: connection.payers)
        connection.payers.add(poolWords: wanted.pool)
        return .ok
    }

    private mutating func claim(
        _ name: Name,
        _ wanted: Registration,
        _ subscription: Subscription,
        now: UInt64
    ) {
        if let before = name.claim, before.lingersUntil != nil { before.user.lingers -= 1 }
        timers.remove(name)
        let claim = Claim(wanted, subscription.connection, now: now)
        let connection = subscription.connection
        spend((name.listeners.count + name.others.count) / Work.connectionsPerUnit)
        claim.registrations = Int32(
            name.listeners.count { $0.connection === connection }
                + name.others.count { $0.connection === connection }
        )
        subscription.claim = claim
        name.claim = claim
        name.wasEverClaimed = true
        name.cause = .post
        name.set(wanted.state, now: now)
        if let end = claim.endsAt { timers.add(name, at: end) }
    }

    /// What a client knows of a name from before the broker began.
    private func recall(
        _ name: Name,
        _ wanted: Registration,
        _ subscription: Subscription,
        now: UInt64
    ) {
        if let claim = name.claim {
            if claim.connection == subscription.connection.number { claim.registrations += 1 }
            return
        }
        if wanted.wasClaimed, !name.wasEverClaimed { name.cause = .unknown }
        // The newest set counts, whoever is back first.
        if wanted.stateTime > name.stateTime, wanted.stateTime <= now, subscription.mayWrite {
            name.set(wanted.state, now: wanted.stateTime)
        }
    }

    func add(_ subscription: Subscription) {
        let connection = subscription.connection
        connection.registrations[subscription.token] = subscription
        connection.account.registrations += 1
        connection.user.registrations += 1
        subscription.name.add(subscription)
    }

    /// Undoes `add`; the claim and the name are the caller's to look at.
    func drop(_ subscription: Subscription) {
        let (connection, name) = (subscription.connection, subscription.name)
        connection.registrations[subscription.token] = nil
        if connection.latest === subscription { connection.latest = nil }
        connection.waiting.remove(subscription)
        subscription.letGo()
        connection.account.registrations -= 1
        connection.user.registrations -= 1
        name.remove(subscription)
        if let payers = name.payers, payers.connection === connection.account {
            passOn(name, from: connection, payers)
        }
    }

    /// A name counts among those of somebody who is registered, as long as anybody is.
    private func passOn(_ name: Name, from connection: Connection, _ payers: Payers) {
        guard let left = name.listeners.first ?? name.others.first,
            left.connection !== connection,
            !name.listeners.contains(where: { $0.connection === connection }),
            !name.others.contains(where: { $0.connection === connection })
        else { return }
        let heir = left.connection.payers
        payers.add(names: -1)
        heir.add(names: 1)
        name.payers = heir
    }

    mutating func cancel(_ subscription: Subscription) {
        spend(Work.registration)
        let (connection, name) = (subscription.connection, subscription.name)
        drop(subscription)
        // The last registration of a claimer takes the claim along, without a will: it let go.
        if let claim = name.claim, claim.connection == connection.number {
            claim.registrations -= 1
            if claim.registrations <= 0 {
                name.claim = nil
                timers.remove(name)
            }
        }
        freeIfUnused(name)
    }

    /// The claimer's connection has ended: the claim lingers or goes, and its will is done.
    mutating func endClaim(
        of name: Name,
        by connection: Connection,
        cause: NotifyCause,
        now: UInt64
    ) {
        guard let claim = name.claim, claim.connection == connection.number,
            claim.lingersUntil == nil
        else { return }
        name.cause = cause
        timers.remove(name)
        if claim.linger > 0, mayLinger(claim, connection) {
            let end = now + UInt64(claim.linger) * 1_000_000_000
            claim.lingersUntil = end
            timers.add(name, at: end)
        } else {
            name.claim = nil
        }
        if let will = claim.will {
            name.set(will, now: now)
            post(name, by: connection, cause: cause)
        }
    }

    private mutating func mayLinger(_ claim: Claim, _ connection: Connection) -> Bool {
        guard claim.user.lingers < claim.user.limits.lingers else {
            connection.report.quotaHits.lingers &+= 1
            figures.overQuota += 1
            return false
        }
        claim.user.lingers += 1
        return true
    }

    /// Ends a claim whose time has come; one that was renewed meanwhile goes on.
    mutating func end(_ name: Name, now: UInt64) {
        guard let claim = name.claim, let end = claim.endsAt else { return }
        guard end <= now else { return timers.add(name, at: end) }
        name.claim = nil
        if claim.lingersUntil != nil {
            claim.user.lingers -= 1
        } else {
            claim.hasExpired = true
            name.cause = .expired
            figures.expired += 1
            if let will = claim.will, let connection = connections[claim.connection] {
                name.set(will, now: now)
                post(name, by: connection, cause: .expired)
            }
        }
        freeIfUnused(name)
        forgetIfEmpty(claim.user, claim.identity.uid)
    }

    mutating func freeIfUnused(_ name: Name) {
        guard name.isUnused, names[name.text] === name else { return }
        names.remove(name)
        figures.names -= 1
        name.payers?.add(names: -1)
        name.payers = nil
        timers.remove(name)
        if let pool = name.pool {
            name.memory.free(pool: pool.base, count: pool.count)
            pool.payers.add(poolWords: -pool.count)
            name.pool = nil
        }
        name.memory.free(slot: name.slot)
        freeIfUnused(name.memory)
        if let family = name.family {
            family.names -= 1
            if family.names == 0 { families[family.key] = nil }
        }
    }
}
