internal import LinuxIO
internal import NotifyProtocol

/// One connected process, as the broker knows it.
final class Connection {
    let number: UInt64
    let credentials: Credentials
    var hasGreeted = false
    var saidGoodbye = false
    var registrations: [UInt32: Subscription] = [:]
    /// Tokens with a waiting event, oldest first; each at most once.
    var waiting: [UInt32] = []

    init(number: UInt64, credentials: Credentials) {
        self.number = number
        self.credentials = credentials
    }
}

/// One registration of one connection.
final class Subscription {
    let token: UInt32
    let connection: Connection
    let name: Name
    let delivers: Bool
    var suspensions = 0
    /// The one event that may wait: later posts merge into it.
    var pending: NotifyEvent?
    /// Where it stands in `Name.subscribers`.
    var place = 0

    init(token: UInt32, connection: Connection, name: Name, delivers: Bool) {
        self.token = token
        self.connection = connection
        self.name = name
        self.delivers = delivers
    }
}

/// One name with its register.
///
/// It lives while somebody is registered or its claim lingers.
final class Name {
    let text: String
    let slot: Int
    var subscribers: [Subscription] = []
    var claim: Claim?
    /// Why the last claimer is gone.
    var cause = NotifyCause.post
    var poolBase = 0
    var poolCount = 0

    init(text: String, slot: Int) {
        self.text = text
        self.slot = slot
    }

    func add(_ subscription: Subscription) {
        subscription.place = subscribers.count
        subscribers.append(subscription)
    }

    /// The last one takes the place of the one that goes: order between subscribers is not
    /// promised.
    func remove(_ subscription: Subscription) {
        guard let last = subscribers.popLast(), last !== subscription else { return }
        last.place = subscription.place
        subscribers[subscription.place] = last
    }
}

/// Whom a name belongs to.
struct Claim {
    /// The claimer's connection; also of one that is gone, while the claim lingers.
    var connection: UInt64
    var credentials: Credentials
    var will: UInt64?
    var linger: UInt32
    /// CLOCK_BOOTTIME, ns, when a claim whose connection is gone ends; nil while it is there.
    var lingersUntil: UInt64?
}
