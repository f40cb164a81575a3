internal import NotifyProtocol

/// What one connection and one user may have.
///
/// Meeting a limit refuses that call with `overQuota` and is counted; nobody else notices.
public struct BrokerLimits: Equatable, Sendable {
    /// Registrations: about 200 bytes of the broker's memory each, one waiting event included.
    public var registrations = 1 << 18
    /// Names that this user keeps alive: the common memory file has room for 1,048,575.
    public var names = 1 << 17
    /// Words of pools: 1,820 peers' worth, resident only where they were written.
    public var poolWords = 8 << 20
    /// Claims that outlive their connections at one time; a peer of the SDK has about 40.
    public var lingers = 1 << 15
    /// Posts in a second, and as many at once: twice what one client can send in frames of one
    /// post, so that only floods of batches meet it.
    public var postsPerSecond = 1_000_000
    /// Open connections: each costs a descriptor.
    public var connections = 4096

    /// Limits as by default; change what is to differ.
    public init() {}
}

/// The limits of everybody.
public struct BrokerQuotas: Equatable, Sendable {
    /// Of one connection.
    public var connection: BrokerLimits
    /// Of one user: its programs share them.
    public var user: BrokerLimits
    /// Of user 0 and of the broker's own user, and of each of their connections: they could stop
    /// the broker anyway, so it is what the memory file holds.
    public var master: BrokerLimits

    /// The same for everybody, masters included.
    public init(all limits: BrokerLimits) {
        connection = limits
        user = limits
        master = limits
    }

    /// What a broker uses.
    public static let standard: BrokerQuotas = {
        var quotas = BrokerQuotas(all: BrokerLimits())
        quotas.user.registrations *= 2
        quotas.user.names *= 2
        quotas.user.poolWords *= 2
        quotas.user.postsPerSecond *= 4
        quotas.master.registrations = 4 << 20
        quotas.master.names = MemoryLayoutOfBus.standard.slots
        quotas.master.poolWords = MemoryLayoutOfBus.standard.poolWords
        quotas.master.lingers = 1 << 20
        quotas.master.postsPerSecond *= 8
        quotas.master.connections = 1 << 20
        return quotas
    }()
}
