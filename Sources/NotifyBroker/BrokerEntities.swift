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
    /// It and its user, as those whose names and pools these are.
    private(set) lazy var payers = Payers(connection: account, user: user)

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
///
/// There are hundreds of thousands of them: small fields stand together.
final class Subscription {
    let connection: Connection
    let name: Name
    /// The claim that it asked for; one that has ended by its deadline says so.
    var claim: Claim?
    /// Room for an event, made when there first is one: most registrations only look.
    private var room: EventRoom?
    /// Its neighbours in the connection's waiting list.
    fileprivate var previous: Subscription?
    fileprivate var next: Subscription?
    let token: UInt32
    var suspensions: UInt32 = 0
    private var placeNumber: UInt32 = 0
    let delivers: Bool
    /// What the rules let it do; a claim may forbid more.
    let mayWrite: Bool
    private var isHolding = false
    fileprivate(set) var isWaiting = false

    /// Where it stands in `Name.listeners` or `Name.others`.
    var place: Int {
        get { Int(placeNumber) }
        set { placeNumber = UInt32(newValue) }
    }

    /// The one event that may wait: later posts merge into it.
    @inline(__always)
    var pending: NotifyEvent? { isHolding ? room?.event : nil }

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
        if !isHolding {
            connection.held += 1
            name.waiting += 1
            isHolding = true
        }
        if let room { room.event = event } else { room = EventRoom(event) }
    }

    /// The waiting event was sent, or nobody is there for it any more.
    func letGo() {
        guard isHolding else { return }
        isHolding = false
        connection.held -= 1
        name.waiting -= 1
    }
}

private final class EventRoom {
    var event: NotifyEvent

    init(_ event: NotifyEvent) {
        self.event = event
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

/// Consecutive words that a name has beside its register.
final class Pool {
    let base: Int
    let count: Int
    /// Whose words these are.
    let payers: Payers

    init(base: Int, count: Int, payers: Payers) {
        self.base = base
        self.count = count
        self.payers = payers
    }
}

/// One name with its register.
///
/// It lives while somebody is registered, its claim lingers, or a rule holds it.
final class Name {
    let text: String
    let memory: RegisterMemory
    let family: Family?
    /// Registrations that are told of posts, and those that only look.
    var listeners: [Subscription] = []
    var others: [Subscription] = []
    var claim: Claim?
    var pool: Pool?
    /// Whose names it counts among.
    var payers: Payers?
    var stateNumber: UInt64
    /// CLOCK_BOOTTIME, ns, of the last set; 0 if there was none.
    var stateTime: UInt64 = 0
    var merged: UInt64 = 0
    private let slotNumber: UInt32
    /// Listeners that have an event waiting.
    var waiting: UInt32 = 0
    private var timerPlace: Int32 = -1
    let access: Access
    /// A rule says that it lives as long as the broker.
    var isPinned = false
    var wasEverClaimed = false
    /// Why the last claimer is gone.
    var cause = NotifyCause.post

    var slot: Int { Int(slotNumber) }
    var poolBase: Int { pool?.base ?? 0 }
    var poolCount: Int { pool?.count ?? 0 }
    /// Its place in the queue of ends; -1 for none.
    var timerIndex: Int {
        get { Int(timerPlace) }
        set { timerPlace = Int32(newValue) }
    }

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
        slotNumber = UInt32(slot)
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
    /// The claimer; also one that is gone, while the claim lingers.
    private let claimer: Connection
    /// CLOCK_BOOTTIME, ns, of the last sign of life.
    var renewedAt: UInt64
    /// Nanoseconds; 0 for no deadline.
    private let deadlineSpan: UInt64
    let will: UInt64?
    /// The deadline has passed.
    var hasExpired = false
    /// Seconds.
    let linger: UInt32
    /// CLOCK_BOOTTIME, ns, when a claim whose connection is gone ends; nil while it is there.
    var lingersUntil: UInt64?
    /// Registrations of the claimer's connection: with the last one the claim goes.
    var registrations: Int32 = 0

    init(_ wanted: Registration, _ connection: Connection, now: UInt64) {
        claimer = connection
        will = wanted.will
        linger = min(wanted.linger, Frames.lingerSecondsMax)
        let limits = Frames.deadlineMilliseconds
        deadlineSpan =
            wanted.deadline == 0
            ? 0
            : UInt64(min(max(wanted.deadline, limits.lowerBound), limits.upperBound)) * 1_000_000
        renewedAt = now
    }

    /// The claimer's connection; also of one that is gone, while the claim lingers.
    var connection: UInt64 { claimer.number }
    var identity: Identity { claimer.identity }
    var user: Account { claimer.user }
    /// Nanoseconds without a sign of life; nil for no deadline.
    var deadline: UInt64? { deadlineSpan == 0 ? nil : deadlineSpan }

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
