internal import NotifyProtocol

/// What one connection or one user has of each thing that is limited.
final class Account {
    let limits: BrokerLimits
    var registrations = 0
    var names = 0
    var poolWords = 0
    var lingers = 0
    var connections = 0
    private var bucket: TokenBucket

    init(_ limits: BrokerLimits, now: UInt64) {
        self.limits = limits
        bucket = TokenBucket(perSecond: limits.postsPerSecond, now: now)
    }

    /// Takes `cost` posts' worth out of the bucket; false if there is not enough in it.
    ///
    /// Nothing costs more than an eighth of a second's worth, or it could never be done.
    @inline(__always)
    func mayPost(_ cost: Int, now: UInt64) -> Bool {
        bucket.take(cost == 1 ? 1 : min(cost, max(1, limits.postsPerSecond / 8)), now: now)
    }

    /// True once nothing is held any more.
    var isEmpty: Bool {
        registrations == 0 && names == 0 && poolWords == 0 && lingers == 0 && connections == 0
    }
}

/// A connection and its user, who both have something.
final class Payers {
    let connection: Account
    let user: Account

    init(connection: Account, user: Account) {
        self.connection = connection
        self.user = user
    }

    func add(names count: Int) {
        connection.names += count
        user.names += count
    }

    func add(poolWords count: Int) {
        connection.poolWords += count
        user.poolWords += count
    }
}

/// So many a second, and as many as one second's worth at once.
struct TokenBucket {
    private let perSecond: Int
    private var left: Int
    private var filledAt: UInt64

    init(perSecond: Int, now: UInt64) {
        self.perSecond = perSecond
        left = perSecond
        filledAt = now
    }

    /// The clock is looked at only once the bucket is empty.
    @inline(__always)
    mutating func take(_ cost: Int, now: UInt64) -> Bool {
        if left >= cost {
            left -= cost
            return true
        }
        fill(now: now)
        guard left >= cost else { return false }
        left -= cost
        return true
    }

    private mutating func fill(now: UInt64) {
        guard now > filledAt else { return }
        let passed = min(now - filledAt, 1_000_000_000)
        let more = Int(passed) * perSecond / 1_000_000_000
        guard more > 0 else { return }
        left = min(perSecond, left + more)
        filledAt = now
    }
}
