import Glibc
import LinuxIO
import NotifyBroker
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// Who may do what, with users that the kernel vouches for.
///
/// Each test is a process of its own that begins as root: a broker as root, and clients that
/// connect as one user after the other.
@Suite(.enabled(if: Environment.uid == 0, "needs root, to become other users: NOT RUN"))
struct PermissionTests {
    /// A bus of root's that everybody can reach.
    private struct Open {
        let folder: TemporaryFolder
        let broker: BrokerThread
        let path: String

        init(_ rules: String = "") throws {
            folder = try TemporaryFolder()
            chmod(folder.path, 0o755)
            path = folder.file("bus.sock")
            var options = BrokerOptions(path: path)
            options.rules = try RulesFile.parse(
                rules,
                RulesFile.Directory(user: { _ in nil }, group: { _ in nil })
            )
            broker = try BrokerThread(options)
        }

        /// A client whose connect is that user's.
        func client(uid: UInt32, gid: UInt32 = 65_534, groups: [UInt32] = []) throws
            -> NotifyClient
        {
            setgroups(groups.count, groups)
            setegid(gid)
            seteuid(uid)
            defer {
                seteuid(0)
                setegid(0)
            }
            return try NotifyClient(path: path)
        }
    }

    @Test func namesOfAUserAndOfTheSystem() async {
        await #expect(processExitsWith: .success) {
            let bus = try Open()
            let (root, one) = (try bus.client(uid: 0, gid: 0), try bus.client(uid: 501))
            let two = try bus.client(uid: 502)
            let own = try one.registerCheck("user.uid.501.x")
            try one.setState(own, 7)
            #expect(try one.state(own) == 7)
            for name in ["user.uid.501.x", "user.uid.501", "user.uid.502x", "user.uid."] {
                #expect(throws: NotifyStatus.notAuthorized) { _ = try two.registerCheck(name) }
                #expect(throws: NotifyStatus.notAuthorized) { try two.post(name) }
                #expect(throws: NotifyStatus.notAuthorized) { _ = try two.claim(name) }
            }
            #expect(try two.list(prefix: "user.").isEmpty)
            #expect(try root.state(try root.registerCheck("user.uid.501.x")) == 7)
            // Everybody hears the system's names; nobody else speaks there, and all is told.
            let heard = try two.registerCheck("intel.system.x")
            #expect(try two.check(heard))
            #expect(throws: NotifyStatus.notAuthorized) { try two.setState(heard, 1) }
            #expect(throws: NotifyStatus.notAuthorized) { try two.post(heard) }
            #expect(try !two.check(heard))
            let spoken = try root.registerCheck("intel.system.x")
            try root.setAndPost(spoken, 9)
            #expect(try two.check(heard) && two.state(heard) == 9)
            for client in [root, one, two] { client.close() }
            bus.broker.stop()
        }
    }

    @Test func supplementaryGroupsCount() async {
        await #expect(processExitsWith: .success) {
            let bus = try Open("reserve team. 600 700 rwr---")
            let owner = try bus.client(uid: 600)
            let member = try bus.client(uid: 601, groups: [5, 700])
            let other = try bus.client(uid: 602, groups: [5])
            let token = try owner.registerCheck("team.a")
            try owner.setState(token, 3)
            let read = try member.registerCheck("team.a")
            #expect(try member.state(read) == 3)
            #expect(throws: NotifyStatus.notAuthorized) { try member.setState(read, 4) }
            #expect(throws: NotifyStatus.notAuthorized) { _ = try other.registerCheck("team.a") }
            for client in [owner, member, other] { client.close() }
            bus.broker.stop()
        }
    }

    @Test func poolsAndStatesOfAChannelAreTheirUsersAndTheGroups() async {
        await #expect(processExitsWith: .success) {
            let bus = try Open("claimed chan. 700 rwrw--")
            let (one, two) = (try bus.client(uid: 501), try bus.client(uid: 502))
            let collector = try bus.client(uid: 600, gid: 700)
            var pools: [NotifyToken] = []
            for (index, client) in [one, two].enumerated() {
                let pool = try client.claimPool("chan.\(index).pool", count: 4096)
                var batch = NotifyBatch()
                batch.poolWrite(pool, at: 4000, words: [UInt64](repeating: 5, count: 96))
                batch.set(pool, UInt64(index) + 40)
                try client.write(batch, quiet: false)
                pools.append(pool)
            }
            #expect(throws: NotifyStatus.notAuthorized) { _ = try two.openPool("chan.0.pool") }
            #expect(try two.list(prefix: "chan.").map(\.name) == ["chan.1.pool"])
            #expect(try collector.list(prefix: "chan.").count == 2)
            for index in 0..<2 {
                let pool = try collector.openPool("chan.\(index).pool")
                var words: [UInt64] = []
                try collector.readPool(pool, at: 3999, count: 97, into: &words)
                #expect(words == [0] + [UInt64](repeating: 5, count: 96))
                #expect(try collector.state(pool) == UInt64(index) + 40)
                let info = try collector.information(pool)
                #expect(info.owner == 501 + UInt32(index) && info.memory == 1 + index)
            }
            for client in [one, two, collector] { client.close() }
            bus.broker.stop()
        }
    }

    @Test func aConnectionSeesItsOwnUsersAloneUnlessItIsRoots() async {
        await #expect(processExitsWith: .success) {
            let bus = try Open()
            let (root, one) = (try bus.client(uid: 0, gid: 0), try bus.client(uid: 501))
            let two = try bus.client(uid: 502)
            #expect(try root.connections().map(\.uid) == [0, 501, 502])
            #expect(try two.connections().map(\.number) == [two.connection])
            for client in [root, one, two] { client.close() }
            bus.broker.stop()
        }
    }

    @Test func aRulesFileThatOthersCouldWriteIsNotTrusted() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("rules")
        try Files.write("set a 1", to: path, mode: 0o644)
        #expect(try RulesLoader.load(path).pinned.count == 1)
        for mode in [0o664, 0o646] as [mode_t] {
            chmod(path, mode)
            let failure = #expect(throws: RulesLoader.Failure.self) {
                _ = try RulesLoader.load(path)
            }
            #expect(failure?.isUntrusted == true)
        }
        chmod(path, 0o644)
        chown(path, 501, 0)
        #expect(throws: RulesLoader.Failure.self) { _ = try RulesLoader.load(path) }
        chown(path, 0, 0)
        #expect(try RulesLoader.load(path).pinned.count == 1)
        try Files.write("set a 1\nset", to: path)
        let failure = #expect(throws: RulesLoader.Failure.self) { _ = try RulesLoader.load(path) }
        #expect(failure?.description.contains("line 2") == true && failure?.isUntrusted == false)
    }
}
