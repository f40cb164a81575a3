import Glibc
import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// Users that the kernel vouches for, on a broker of root's with a rules file.
///
/// Each test is a process of its own: it begins as root and connects as one user after the other.
@Suite(.enabled(if: Environment.uid == 0, "needs root, to become other users: NOT RUN"))
struct UserTests {
    static let nobody: UInt32 = 65_534

    @Test("F2: user.uid.N and what is below is user N's and root's, and nobody else's")
    func namesOfUsers() async {
        await #expect(processExitsWith: .success) {
            let bus = try ruledBus("")
            let user = Self.nobody
            let client = try Self.become(user) { try bus.client() }
            for name in ["user.uid.\(user)", "user.uid.\(user).x", "user.uid.\(user)."] {
                let token = try client.registerCheck(name)
                try client.setState(token, 2)
                try client.post(name)
                #expect(try client.state(token) == 2 && client.check(token))
            }
            let foreign = [
                "user.uid.0", "user.uid.1.x", "user.uid.\(user)x", "user.uid.0\(user)", "user.uid.",
            ]
            for name in foreign { try Self.expectRefusal(client, name) }
            let root = try bus.client()
            for name in foreign + ["user.uid.\(user).x"] {
                let token = try root.registerCheck(name)
                try root.setAndPost(token, 3)
                #expect(try root.state(token) == 3)
            }
            // That root has registered them opens them to nobody.
            for name in foreign { try Self.expectRefusal(client, name) }
        }
    }

    @Test("F3: on a reserved prefix everybody listens; a post or set is refused, and told so")
    func reserved() async {
        await #expect(processExitsWith: .success) {
            let bus = try ruledBus("reserve f3. 0 0 rwr-r-\n")
            let client = try Self.become(Self.nobody) { try bus.client() }
            let root = try bus.client()
            let seen = Seen()
            let token = try client.registerHandler("f3.x") { seen.add($0) }
            _ = try client.check(token)
            #expect(throws: NotifyStatus.notAuthorized) { try client.post("f3.x") }
            #expect(throws: NotifyStatus.notAuthorized) { try client.post(token) }
            #expect(throws: NotifyStatus.notAuthorized) { try client.setState(token, 1) }
            #expect(throws: NotifyStatus.notAuthorized) { try client.setAndPost(token, 1) }
            #expect(throws: NotifyStatus.notAuthorized) { _ = try client.claim("f3.x") }
            #expect(throws: NotifyStatus.notAuthorized) { _ = try client.claim("f3.new") }
            // Also of a name that nobody has: silence would look like success.
            #expect(throws: NotifyStatus.notAuthorized) { try client.post("f3.none") }
            let quiet = client.quietErrors
            try client.postOneWay("f3.x")
            #expect(eventually { client.quietErrors == quiet + 1 })
            #expect(try client.state(token) == 0 && !client.check(token) && seen.count == 0)
            let theirs = try root.registerCheck("f3.x")
            try root.setAndPost(theirs, 33)
            #expect(eventually { seen.all.first?.state == 33 })
            #expect(seen.all.first?.uid == 0)
        }
    }

    @Test("F4: of the prefixes that fit, the longest decides, in whatever order they stand")
    func longest() async {
        await #expect(processExitsWith: .success) {
            let rules = [
                "reserve f4.a. 0 0 rw----", "reserve f4. 0 0 rwr-r-",
                "reserve f4.a.b. \(Self.nobody) 0 rw----", "reserve f4.a.b.c 0 0 rwrwrw",
            ]
            for order in [rules, rules.reversed()] {
                let bus = try ruledBus(order.joined(separator: "\n"))
                let client = try Self.become(Self.nobody) { try bus.client() }
                let other = try Self.become(501) { try bus.client() }
                // Plain bytes: f4.a itself lies under f4., and f4.a.bc under f4.a.
                for name in ["f4.x", "f4.a"] {
                    _ = try client.registerCheck(name)
                    #expect(throws: NotifyStatus.notAuthorized) { try client.post(name) }
                }
                for name in ["f4.a.x", "f4.a.bc"] { try Self.expectRefusal(client, name) }
                let own = try client.registerCheck("f4.a.b.x")
                try client.setAndPost(own, 4)
                try Self.expectRefusal(other, "f4.a.b.x")
                try other.setAndPost(try other.registerCheck("f4.a.b.cx"), 5)
                #expect(try other.list(prefix: "f4.").map(\.name) == ["f4.a", "f4.a.b.cx", "f4.x"])
            }
        }
    }

    @Test(
        "another user neither writes a claimed name, nor takes it over, nor sees a restricted one"
    )
    func foreign() async {
        await #expect(processExitsWith: .success) {
            let bus = try ruledBus("reserve secret. 501 0 rw----\nclaimed chan. 0 rwrw--\n")
            let owner = try Self.become(501) { try bus.client() }
            let other = try Self.become(Self.nobody) { try bus.client() }
            let options = ClaimOptions(state: 7, will: 8, linger: 300)
            let claimed = try owner.claim("open.claimed", options)
            let pool = try owner.claimPool("chan.one.pool", count: 64)
            let secret = try owner.registerCheck("secret.x")
            try owner.setState(secret, 99)
            let token = try other.registerCheck("open.claimed")
            let refused: () throws -> Void = {
                #expect(throws: NotifyStatus.notAuthorized) { try other.setState(token, 1) }
                #expect(throws: NotifyStatus.notAuthorized) { try other.post(token) }
                #expect(throws: NotifyStatus.notAuthorized) { try other.post("open.claimed") }
                #expect(throws: NotifyStatus.notAuthorized) { try other.update(token) { _ in 1 } }
                #expect(throws: NotifyStatus.notAuthorized) { try other.claim("open.claimed") }
            }
            try refused()
            for name in ["secret.x", "chan.one.pool", "chan.one.more"] {
                try Self.expectRefusal(other, name)
            }
            #expect(try other.list(prefix: "").map(\.name) == ["open.claimed"])
            #expect(try other.who(prefix: "secret").isEmpty)
            #expect(try other.connections().map(\.uid) == [Self.nobody])
            #expect(try owner.state(claimed) == 7 && owner.state(secret) == 99)
            #expect(owner.isValid(pool))
            // While it lingers it is still nobody else's.
            owner.close()
            #expect(try eventually { try other.state(token) == 8 })
            try refused()
        }
    }

    @Test("under the shipped rules a user's records come in, and another user sees none of it")
    func shipped() async {
        await #expect(processExitsWith: .success) {
            let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let text = try Files.contents("/" + root + "/packaging/bus.rules")
            // As a machine where user and group `intel` have the number 990.
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map { line in
                line.hasPrefix("#")
                    ? ""
                    : line.split(separator: " ").map { $0 == "intel" ? "990" : $0 }.joined(
                        separator: " "
                    )
            }
            let station = try Station()
            chmod(station.folder.path, 0o755)
            let rules = station.folder.file("rules")
            try Files.write(lines.joined(separator: "\n"), to: rules)
            try station.startAgent(["--rules", rules])
            let sent = try Self.become(501) {
                try station.run(["send", "--as", "com.example.one"], input: Array("hello\n".utf8))
            }
            #expect(sent.status == 0, "\(sent.error)")
            #expect(try station.run(["query"]).output.contains("hello"))
            // The peer's names linger, and are there for root and for their user.
            func names(_ uid: UInt32) throws -> [String] {
                try Self.become(uid) {
                    let client = try NotifyClient(path: station.busPath)
                    defer { client.close() }
                    return try client.list(prefix: "intel.", suffix: ".pool").map(\.name)
                }
            }
            #expect(try names(501).count == 1)
            #expect(try names(0).count == 1 && names(502).isEmpty)
            try Self.become(502) {
                let client = try NotifyClient(path: station.busPath)
                defer { client.close() }
                let collector = try client.registerCheck("intel.collector")
                #expect(try client.state(collector) != 0)
                #expect(throws: NotifyStatus.notAuthorized) { try client.post(collector) }
            }
            #expect(station.signalAgent(15) == 0)
        }
    }

    @Test("a place below /tmp that another user has made is not used, root's or one's own is")
    func places() async {
        await #expect(processExitsWith: .success) {
            let user: UInt32 = 54_321
            let folder = "/tmp/intel-\(user)"
            Files.removeTree(folder)
            try Files.makeFolder(folder)
            defer { Files.removeTree(folder) }
            let path = folder + "/bus.sock"
            let broker = try Program(["bus", "--bus", path])
            #expect(eventually { broker.errorSoFar.contains("listening") })
            let cases: [(owner: uid_t, mode: mode_t, isUsed: Bool)] = [
                (0, 0o755, true), (user, 0o755, true), (Self.nobody, 0o755, false),
                (user, 0o777, false),
            ]
            for (owner, mode, isUsed) in cases {
                chown(folder, owner, 0)
                chmod(folder, mode)
                try Self.become(user) {
                    let client = try NotifyClient(attachingLaterTo: path)
                    if isUsed {
                        try client.post("place")
                    } else {
                        #expect(throws: NotifyStatus.serverNotFound) { try client.post("place") }
                    }
                    client.close()
                    #expect((BusPlace.fault(of: path) == nil) == isUsed)
                }
            }
            // A link is not what it leads to.
            chown(folder, Self.nobody, 0)
            chmod(folder, 0o755)
            try Files.rename(folder, to: folder + "-real")
            defer { Files.removeTree(folder + "-real") }
            symlink(folder + "-real", folder)
            Self.become(user) { #expect(BusPlace.fault(of: path) != nil) }
            unlink(folder)
            broker.signal(15)
            #expect(broker.finish().status == 0)
        }
    }

    /// Nothing may be done with this name.
    static func expectRefusal(_ client: NotifyClient, _ name: String) throws {
        #expect(throws: NotifyStatus.notAuthorized) { _ = try client.registerCheck(name) }
        #expect(throws: NotifyStatus.notAuthorized) { try client.post(name) }
        #expect(throws: NotifyStatus.notAuthorized) { _ = try client.claim(name) }
    }

    /// Does something as another user, whom the kernel vouches for.
    static func become<Result>(_ uid: UInt32, _ body: () throws -> Result) rethrows -> Result {
        setgroups(0, nil)
        setegid(Self.nobody)
        seteuid(uid)
        defer {
            seteuid(0)
            setegid(0)
        }
        return try body()
    }
}
