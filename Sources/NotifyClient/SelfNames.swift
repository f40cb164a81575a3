/// The names that begin with `self.`: they belong to this process alone and never reach the
/// broker, so they work without one.
///
/// A name lives as long as a registration of it, as on the bus.
struct SelfNames: Sendable {
    /// A name's register.
    struct Name: Sendable {
        var state: UInt64 = 0
        var posts: UInt64 = 0
        var tokens: Set<NotifyToken> = []
    }

    private var names: [String: Name] = [:]

    /// True for a name that belongs here.
    static func holds(_ name: String) -> Bool { name.utf8.starts(with: "self.".utf8) }

    /// A name as it stands; nothing set and nothing posted if nobody has it.
    subscript(_ name: String) -> Name { names[name] ?? Name() }

    /// Adds a registration.
    mutating func register(_ name: String, _ token: NotifyToken) {
        names[name, default: Name()].tokens.insert(token)
    }

    /// Takes a registration away, and the name behind the last one.
    mutating func cancel(_ name: String, _ token: NotifyToken) {
        names[name]?.tokens.remove(token)
        if names[name]?.tokens.isEmpty == true { names[name] = nil }
    }

    /// Sets the state, if anybody has the name.
    mutating func set(_ name: String, _ state: UInt64) {
        names[name]?.state = state
    }

    /// Counts a post, if anybody has the name.
    ///
    /// - Returns: the name after it; nil if nobody has it.
    mutating func post(_ name: String) -> Name? {
        names[name]?.posts += 1
        return names[name]
    }
}
