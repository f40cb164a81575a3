internal import NotifyProtocol

/// One connected process, as the broker knows it.
final class Connection {
    let number: UInt64
    let identity: Identity
    /// What this connection has, and what all of its user's have.
    let account: Account
    let user: Account
    var hasGreeted = false
    var saidGoodbye = false
    /// True while it stands in `BrokerState.dirty`.
    var isDirty = false
    var registrations: [UInt32: Subscription] = [:]
    /// The registration that was spoken of last: often the next one too.
    var latest: Subscription?
    var waiting = WaitingList()
    /// Its registrations with an event, those that are suspended included.
    var held = 0
    /// Numbers of the memory files that it was given, beside the common one.
    var memories: Set<Int> = []
    var report = ConnectionReport()
    /// The frame that took more than a turn, and those that came after it.
    var unfinished: UnfinishedFrame?
    var queued: [[UInt8]] = []
    var isUnfinished: Bool { unfinished != nil || !queued.isEmpty }

    init(number: UInt64, identity: Identity, account: Account, user: Account) {
        self.number = number
        self.identity = identity
        self.account = account
        self.user = user
    }

    @inline(__always)
    func registration(_ token: UInt32) -> Subscription? {
        if let latest, latest.token == token { return latest }
        let found = registrations[token]
        if let found { latest = found }
        return found
    }
}

/// One registration of one connection.
final class Subscription {
    let token: UInt32
    let connection: Connection
    let name: Name
    let delivers: Bool
    /// What the rules let it do; a claim may forbid more.
    let mayWrite: Bool
    /// The claim that it asked for; one that has ended by its deadline says so.
    var claim: Claim?
    var suspensions = 0
    /// The one event that may wait: later posts merge into it.
    private(set) var pending: NotifyEvent?
    /// Where it stands in `Name.listeners` or `Name.others`.
    var place = 0
    /// Its neighbours in the connection's waiting list.
    fileprivate(set) var isWaiting = false
    fileprivate var previous: Subscription?
    fileprivate var next: Subscription?

    init(
        token: UInt32,
        connection: Connection,
        name: Name,
        delivers: Bool,
        mayWrite: Bool
    ) {
        self.token = token
        self.connection = connection
        self.name = name
        self.delivers = delivers
        self.mayWrite = mayWrite
    }

    /// Lets an event wait in place of the one before, if there was one.
    @inline(__always)
    func hold(_ event: NotifyEvent) {
        if pending == nil {
            connection.held += 1
            name.waiting += 1
        }
        pending = event
    }

    /// The waiting event was sent, or nobody is there for it any more.
    func letGo() {
        guard pending != nil else { return }
        pending = nil
        connection.held -= 1
        name.waiting -= 1
    }
}

/// Registrations with a waiting event, oldest first; each at most once, so that a connection which
/// never reads costs no more than its registrations.
struct WaitingList {
    private(set) var first: Subscription?
    private var last: Subscription?
    private(set) var count = 0

    mutating func append(_ subscription: Subscription) {
        if subscription.isWaiting { return }
        subscription.isWaiting = true
        subscription.previous = last
        if let last { last.next = subscription } else { first = subscription }
        last = subscription
        count += 1
    }

    mutating func remove(_ subscription: Subscription) {
        guard subscription.isWaiting else { return }
        subscription.isWaiting = false
        let (previous, next) = (subscription.previous, subscription.next)
        if let previous { previous.next = next } else { first = next }
        if let next { next.previous = previous } else { last = previous }
        subscription.previous = nil
        subscription.next = nil
        count -= 1
    }

    static func after(_ subscription: Subscription) -> Subscription? { subscription.next }
}

/// A name's text, compared by its bytes: two spellings of one character are two names.
struct NameKey: Hashable {
    let text: String

    static func == (one: NameKey, two: NameKey) -> Bool {
        one.text.utf8.elementsEqual(two.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var copy = text
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Names whose common beginning belongs to one user.
final class Family {
    let key: NameKey
    let uid: UInt32
    var names = 0

    init(key: NameKey, uid: UInt32) {
        self.key = key
        self.uid = uid
    }
}

/// One name with its register.
///
/// It lives while somebody is registered, its claim lingers, or a rule holds it.
final class Name {
    let text: String
    let memory: RegisterMemory
    let slot: Int
    let access: Access
    let family: Family?
    /// A rule says that it lives as long as the broker.
    var isPinned = false
    /// Registrations that are told of posts, and those that only look.
    var listeners: [Subscription] = []
    var others: [Subscription] = []
    var claim: Claim?
    var wasEverClaimed = false
    /// Why the last claimer is gone.
    var cause = NotifyCause.post
    var stateNumber: UInt64
    /// CLOCK_BOOTTIME, ns, of the last set; 0 if there was none.
    var stateTime: UInt64 = 0
    var merged: UInt64 = 0
    /// Listeners that have an event waiting.
    var waiting = 0
    var poolBase = 0
    var poolCount = 0
    /// Whose names and pool words it counts among.
    var payers: Payers?
    var poolPayers: Payers?
    /// Its place in the queue of ends; -1 for none.
    var timerIndex = -1

    init(
        text: String,
        memory: RegisterMemory,
        slot: Int,
        access: Access,
        family: Family?,
        now: UInt64
    ) {
        self.text = text
        self.memory = memory
        self.slot = slot
        self.access = access
        self.family = family
        // A name that ends and comes again never repeats a number.
        stateNumber = now
    }

    var isUnused: Bool { listeners.isEmpty && others.isEmpty && claim == nil && !isPinned }

    func add(_ subscription: Subscription) {
        if subscription.delivers {
            subscription.place = listeners.count
            listeners.append(subscription)
        } else {
            subscription.place = others.count
            others.append(subscription)
        }
    }

    /// The last one takes the place of the one that goes: order between subscribers is not
    /// promised.
    func remove(_ subscription: Subscription) {
        let last = subscription.delivers ? listeners.popLast() : others.popLast()
        guard let last, last !== subscription else { return }
        last.place = subscription.place
        if subscription.delivers {
            listeners[subscription.place] = last
        } else {
            others[subscription.place] = last
        }
    }

    /// Sets the state and numbers that.
    @inline(__always)
    func set(_ state: UInt64, now: UInt64) {
        memory.setState(state, of: slot)
        stateNumber &+= 1
        stateTime = now
    }
}

/// Whom a name belongs to.
final class Claim {
    /// The claimer's connection; also of one that is gone, while the claim lingers.
    let connection: UInt64
    let identity: Identity
    let user: Account
    let will: UInt64?
    /// Seconds.
    let linger: UInt32
    /// Nanoseconds without a sign of life; nil for no deadline.
    let deadline: UInt64?
    /// Registrations of the claimer's connection: with the last one the claim goes.
    var registrations = 0
    /// CLOCK_BOOTTIME, ns, of the last sign of life.
    var renewedAt: UInt64
    /// CLOCK_BOOTTIME, ns, when a claim whose connection is gone ends; nil while it is there.
    var lingersUntil: UInt64?
    /// The deadline has passed.
    var hasExpired = false

    init(_ wanted: Registration, _ connection: Connection, now: UInt64) {
        self.connection = connection.number
        identity = connection.identity
        user = connection.user
        will = wanted.will
        linger = min(wanted.linger, Frames.lingerSecondsMax)
        let limits = Frames.deadlineMilliseconds
        deadline =
            wanted.deadline == 0
            ? nil
            : UInt64(min(max(wanted.deadline, limits.lowerBound), limits.upperBound)) * 1_000_000
        renewedAt = now
    }

    /// When it ends unless something happens; nil for never.
    var endsAt: UInt64? {
        lingersUntil ?? deadline.map { renewedAt + $0 }
    }

    /// True for the process that held it, on whatever connection.
    func isHeld(by other: Identity) -> Bool {
        // Without its start a process cannot be told from a later one with the same number.
        identity.pid == other.pid && identity.uid == other.uid && identity.startTime != 0
            && identity.startTime == other.startTime
    }
}
