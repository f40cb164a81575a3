import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// Who may use which names: the rules alone, and what the broker makes of them.
@Suite struct AccessTests {
    private static let rules: AccessRules = {
        var rules = AccessRules()
        rules.add(AccessRules.Rule(prefix: "a.", access: access("rw----", 10, 20)))
        rules.add(AccessRules.Rule(prefix: "a.b.", access: access("rwrwr-", 11, 21)))
        rules.add(AccessRules.Rule(prefix: "a.bc", access: access("rwr---", 12, 22)))
        rules.add(
            AccessRules.Rule(prefix: "chan.", access: access("rwrw--", 0, 40), isByClaimer: true)
        )
        return rules
    }()

    private static func access(_ letters: String, _ uid: UInt32, _ gid: UInt32) -> Access {
        let letters = Array(letters)
        func rights(_ start: Int) -> Access.Rights {
            var rights: Access.Rights = []
            if letters[start] == "r" { rights.insert(.read) }
            if letters[start + 1] == "w" { rights.insert(.write) }
            return rights
        }
        return Access(uid: uid, gid: gid, owner: rights(0), group: rights(2), others: rights(4))
    }

    private func rights(_ name: String, uid: UInt32, gid: UInt32 = 1, groups: [UInt32] = [])
        -> Access.Rights
    {
        let identity = Identity(pid: 1, uid: uid, gid: gid, groups: groups)
        return Self.rules.verdict(name).access.rights(of: identity)
    }

    @Test func theLongestPrefixDecides() {
        #expect(rights("a.x", uid: 10) == .all && rights("a.x", uid: 11) == [])
        #expect(rights("a.b.x", uid: 11) == .all && rights("a.b.x", uid: 10) == .read)
        // A prefix is bytes, not parts: "a.bc" and "a.bcd" both begin so.
        #expect(rights("a.bcd", uid: 12) == .all && rights("a.bcd", uid: 10) == [])
        #expect(rights("a", uid: 99) == .all && rights("", uid: 99) == .all)
    }

    @Test func ownerGroupAndOthersAreAskedInThisOrder() {
        #expect(rights("a.bc", uid: 12) == .all)
        #expect(rights("a.bc", uid: 5, gid: 22) == .read)
        #expect(rights("a.bc", uid: 5, gid: 1, groups: [7, 22]) == .read)
        #expect(rights("a.bc", uid: 5, gid: 1, groups: [7]) == [])
        #expect(rights("a.bc", uid: 0) == .all)
    }

    @Test(arguments: [
        ("user.uid.501", true), ("user.uid.501.", true), ("user.uid.501.x.y", true),
        ("user.uid.501x", false), ("user.uid.5010", false), ("user.uid.50", false),
        ("user.uid.0501", false), ("user.uid.+501", false), ("user.uid.", false),
        ("user.uid.x", false), ("user.uid.502.501", false), ("user.uid.4294967797", false),
    ])
    func namesOfAUserAreThatUsersAlone(name: String, isAllowed: Bool) {
        #expect(rights(name, uid: 501) == (isAllowed ? .all : []))
        #expect(rights(name, uid: 0) == .all)
    }

    @Test func systemNamesAreHeardByAllAndSpokenByOne() {
        let bench = Bench()
        let (root, other) = (bench.connect(uid: 0), bench.connect(uid: 7))
        #expect(bench.apply([.register(1, "intel.system.x")], from: other) == [0])
        #expect(
            bench.apply(
                [
                    .set(token: 1, state: 1), .post(token: 1), .postName("intel.system.x"),
                    .claim(2, "intel.system.x"), .setAndPost(token: 1, state: 3),
                    .compareAndSet(token: 1, number: 0, state: 0, posts: false),
                    .postName("intel.system.nobody"),
                ],
                from: other
            ) == [7, 7, 7, 7, 7, 7, 7]
        )
        #expect(bench.events(other).isEmpty && bench.state.figures.notAuthorized == 7)
        #expect(bench.apply([.register(1, "intel.system.x")], from: root) == [0])
        #expect(bench.apply([.setAndPost(token: 1, state: 5)], from: root) == [0])
        #expect(bench.events(other).first?.state == 5)
    }

    @Test func aNameThatMayNotBeReadIsRefusedAndDoesNotShow() {
        let bench = Bench(rules: Self.rules)
        let (owner, member) = (bench.connect(uid: 12), bench.connect(uid: 3, groups: [22]))
        let (other, root) = (bench.connect(uid: 4), bench.connect())
        #expect(bench.apply([.register(1, "a.bc"), .register(2, "z")], from: owner) == [0, 0])
        #expect(bench.apply([.register(1, "a.bc")], from: member) == [0])
        #expect(bench.apply([.post(token: 1)], from: member) == [7])
        #expect(bench.apply([.register(1, "a.bc"), .postName("a.bc")], from: other) == [7, 7])
        #expect(bench.names(other) == ["z"])
        for reader in [owner, member, root] { #expect(bench.names(reader) == ["a.bc", "z"]) }
    }

    @Test func aMemoryFileGoesToNobodyWhoMayNotReadEveryNameInIt() {
        let bench = Bench(rules: Self.rules)
        let one = bench.connect(uid: 501)
        let infos = ["user.uid.501.a", "z", "user.uid.501.b"].enumerated().map { index, name in
            bench.ask([.register(UInt32(index), name)], from: one).first?.info
        }
        #expect(infos.map { $0?.memory } == [1, 0, 1])
        #expect(infos.map { $0?.owner } == [501, 0, 501])
        #expect(infos.map { $0?.slot } == [1, 1, 2])
        // The file comes once, and to those alone who may read it.
        #expect(bench.given[one]?.count == 1)
        let other = bench.connect(uid: 502)
        #expect(bench.ask([.register(1, "user.uid.502")], from: other).first?.info?.memory == 2)
        #expect(bench.given[other]?.count == 1)
        #expect(bench.given[one]?.first !== bench.given[other]?.first)
        #expect(bench.apply([.register(2, "user.uid.501.a")], from: other) == [7])
        #expect(bench.given[other]?.count == 1)
        let root = bench.connect()
        _ = bench.ask([.register(1, "user.uid.501.a"), .register(2, "user.uid.502")], from: root)
        #expect(bench.given[root]?.count == 2)
        // Same class, same memory: a state that one sets is there for the other.
        _ = bench.apply([.set(token: 0, state: 77)], from: one)
        let file = bench.given[root]?.first
        #expect(file?.bytes.load(fromByteOffset: 16, as: UInt64.self) == 77)
        #expect(bench.memory.bytes.load(fromByteOffset: 16, as: UInt64.self) == 0)
    }

    @Test func anEmptyClassGivesItsFileBackAndTheNumberStandsForANewOne() {
        let bench = Bench()
        let root = bench.connect()
        for uid in 1...300 as ClosedRange<UInt32> {
            let one = bench.connect(uid: uid)
            #expect(bench.apply([.register(1, "user.uid.\(uid)")], from: one) == [0])
            #expect(bench.apply([.register(1, "user.uid.\(uid)")], from: root) == [0])
            #expect(bench.apply([.cancel(token: 1)], from: root) == [0])
            bench.state.disconnect(one, now: 0)
        }
        #expect(bench.given[root]?.count == 300 && bench.state.figures.names == 0)
    }

    @Test func belowAChannelEachPeersNamesAreItsUsersAndTheGroups() {
        let bench = Bench(rules: Self.rules)
        let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 6))
        let (collector, root) = (bench.connect(uid: 3, gid: 40), bench.connect())
        #expect(bench.apply([.claim(1, "chan.F.epoch")], from: one) == [0])
        #expect(bench.apply([.claim(1, "chan.G.epoch")], from: two) == [0])
        #expect(bench.apply([.register(2, "chan.F.epoch")], from: two) == [7])
        #expect(bench.apply([.claim(2, "chan.F.more")], from: two) == [7])
        for reader in [collector, root] {
            #expect(
                bench.apply(
                    [.register(1, "chan.F.epoch"), .register(2, "chan.G.epoch")],
                    from: reader
                ) == [0, 0]
            )
        }
        // What the collector claims below a peer is that peer's to read.
        #expect(bench.apply([.claim(3, "chan.F.stored")], from: collector) == [0])
        let info = bench.ask([.register(3, "chan.F.stored")], from: one).first?.info
        #expect(info?.owner == 5 && info?.uid == 3)
        // Names with no part below the prefix are everybody's.
        #expect(bench.apply([.register(4, "chan.msg")], from: two) == [0])
        #expect(bench.names(two, prefix: "chan.") == ["chan.G.epoch", "chan.msg"])
    }

    @Test func afterARestartTheCollectorMayBeBackBeforeThePeer() {
        let bench = Bench(rules: Self.rules)
        let collector = bench.connect(uid: 3, gid: 40)
        var wanted = Registration(token: 1, name: "chan.F.epoch")
        // It would become the owner, and lock the peer out.
        #expect(bench.apply([.register(wanted)], from: collector) == [7])
        wanted.owner = 5
        wanted.wasClaimed = true
        let info = bench.ask([.register(wanted)], from: collector).first?.info
        #expect(info?.owner == 5 && info?.cause == .unknown)
        // What it claims itself below a peer is that peer's as well.
        var stored = Registration(token: 2, name: "chan.H.stored")
        (stored.claims, stored.owner) = (true, 6)
        #expect(bench.ask([.register(stored)], from: collector).first?.info?.owner == 6)
        let (one, two) = (bench.connect(uid: 5), bench.connect(uid: 6))
        #expect(bench.apply([.claim(3, "chan.H.epoch")], from: two) == [0])
        // Nobody says for whom he comes but members of the group.
        var forged = Registration(token: 1, name: "chan.G.epoch")
        forged.owner = 5
        #expect(bench.ask([.register(forged)], from: two).first?.info?.owner == 6)
        #expect(bench.apply([.claim(2, "chan.F.epoch")], from: two) == [7])
        #expect(bench.apply([.claim(1, "chan.F.epoch", will: nil)], from: one) == [0])
        let now = bench.ask([.inspect(token: 1)], from: collector).first?.info
        #expect(now?.cause == .post && now?.connection == one && now?.memory == info?.memory)
    }
}
