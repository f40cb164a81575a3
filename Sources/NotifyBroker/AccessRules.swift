/// Who a connection is, in the kernel's words, as of its connect.
public struct Identity: Hashable, Sendable {
    /// Process id.
    public var pid: Int32
    /// When that process began, in the kernel's ticks; tells two processes of one id apart.
    public var startTime: UInt64
    /// Effective user id.
    public var uid: UInt32
    /// Effective group id.
    public var gid: UInt32
    /// Supplementary groups.
    public var groups: [UInt32]

    /// An identity as given.
    public init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], startTime: UInt64 = 0)
    {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.groups = groups
        self.startTime = startTime
    }

    /// True for the effective group and each supplementary one.
    public func isMember(of group: UInt32) -> Bool { gid == group || groups.contains(group) }
}

/// Who may read (register) and write (post, set, claim) a name.
public struct Access: Hashable, Sendable {
    /// Reading and writing of one of the three: owner, group, others.
    public struct Rights: OptionSet, Hashable, Sendable {
        /// Bit 0 reads, bit 1 writes.
        public let rawValue: UInt8
        /// Any combination.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// May register the name and list it.
        public static let read = Rights(rawValue: 1)
        /// May post, set and claim it.
        public static let write = Rights(rawValue: 2)
        /// Both.
        public static let all: Rights = [.read, .write]
    }

    /// The owner.
    public var uid: UInt32
    /// The group.
    public var gid: UInt32
    /// What the owner may.
    public var owner: Rights
    /// What members of the group may.
    public var group: Rights
    /// What everybody else may.
    public var others: Rights

    /// Access as given.
    public init(uid: UInt32, gid: UInt32, owner: Rights, group: Rights, others: Rights) {
        self.uid = uid
        self.gid = gid
        self.owner = owner
        self.group = group
        self.others = others
    }

    /// Everybody may everything: what is said of names without a rule.
    public static let open = Access(uid: 0, gid: 0, owner: .all, group: .all, others: .all)

    /// What this identity may; user 0 may everything.
    public func rights(of identity: Identity) -> Rights {
        if identity.uid == 0 { return .all }
        // As with files: the first that fits decides.
        if identity.uid == uid { return owner }
        return identity.isMember(of: gid) ? group : others
    }

    /// Which readers share a memory file with this name's; nil for the common one.
    var readers: Readers? {
        guard !others.contains(.read) else { return nil }
        return Readers(
            uid: uid,
            gid: gid,
            ownerReads: owner.contains(.read),
            groupReads: group.contains(.read)
        )
    }

    /// A class of readers.
    struct Readers: Hashable, Sendable {
        var uid: UInt32
        var gid: UInt32
        var ownerReads: Bool
        var groupReads: Bool
    }
}

/// What names may be used by whom: a pure value.
///
/// 1. The longest prefix, in bytes, decides.
/// 2. `user.uid.N` and `user.uid.N.*` belong to user N; what else begins so, to user 0.
/// 3. A name without a rule is open.
public struct AccessRules: Equatable, Sendable {
    /// Names that begin so, and what is said of them.
    public struct Rule: Equatable, Sendable {
        /// The first bytes of the names.
        public var prefix: String
        /// Who may what.
        public var access: Access
        /// The part below the prefix, up to the next dot, has an owner: who claims the first name.
        ///
        /// `access` is then for that user instead of its own.
        public var isByClaimer: Bool

        /// A rule as given.
        public init(prefix: String, access: Access, isByClaimer: Bool = false) {
            self.prefix = prefix
            self.access = access
            self.isByClaimer = isByClaimer
        }
    }

    /// A name that lives as long as the broker, with the state that it begins with.
    public struct Pinned: Equatable, Sendable {
        /// The name.
        public var name: String
        /// The state.
        public var state: UInt64

        /// A name as given.
        public init(name: String, state: UInt64) {
            self.name = name
            self.state = state
        }
    }

    /// Prefixes, the longest first.
    public private(set) var rules: [Rule] = []
    /// Names that live as long as the broker.
    public var pinned: [Pinned] = []

    /// The built-in rules: everybody listens to `intel.system.`, user 0 alone speaks there.
    public init() {
        add(
            Rule(
                prefix: "intel.system.",
                access: Access(uid: 0, gid: 0, owner: .all, group: .read, others: .read)
            )
        )
    }

    /// Adds a rule; one with the same prefix is replaced.
    public mutating func add(_ rule: Rule) {
        rules.removeAll { $0.prefix.utf8.elementsEqual(rule.prefix.utf8) }
        let place = rules.firstIndex { $0.prefix.utf8.count < rule.prefix.utf8.count }
        rules.insert(rule, at: place ?? rules.count)
    }

    /// What is said of a name.
    public func verdict(_ name: String) -> Verdict {
        if let user = Self.userName(name) { return Verdict(access: user) }
        for rule in rules where name.utf8.starts(with: rule.prefix.utf8) {
            guard rule.isByClaimer else { return Verdict(access: rule.access) }
            let rest = name.utf8.dropFirst(rule.prefix.utf8.count)
            guard let dot = rest.firstIndex(of: UInt8(ascii: ".")), dot > rest.startIndex else {
                continue
            }
            return Verdict(access: rule.access, family: String(name[..<dot]))
        }
        return Verdict(access: .open)
    }

    /// What the rules say of one name.
    public struct Verdict: Equatable, Sendable {
        /// Who may what.
        public var access: Access
        /// The names that begin so have one owner, whose uid takes the place of `access.uid`.
        public var family: String?

        init(access: Access, family: String? = nil) {
            self.access = access
            self.family = family
        }
    }

    /// The access of `user.uid.N` and what is below; nil for other names.
    private static func userName(_ name: String) -> Access? {
        let prefix = "user.uid."
        guard name.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = name.utf8.dropFirst(prefix.utf8.count)
        let digits = rest.prefix { $0 != UInt8(ascii: ".") }
        let uid = UInt32(String(decoding: digits, as: UTF8.self)) ?? 0
        // Exactly as the number is written: neither "+5", "05" nor "501x".
        let isExact = String(uid).utf8.elementsEqual(digits)
        return Access(uid: isExact ? uid : 0, gid: 0, owner: .all, group: [], others: [])
    }
}
