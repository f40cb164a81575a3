import Glibc
import LinuxIO
import NotifyBroker
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// What the broker adds to notify(3), over real sockets.
@Suite struct BrokerFeatureTests {
    @Test func incrementsOfTwoClientsAllCount() throws {
        let bus = try Bus()
        let (one, two) = (try bus.client(), try bus.client())
        let tokens = (try one.registerCheck("n"), try two.registerCheck("n"))
        let other = try OwnedThread("other") {
            for _ in 0..<300 { _ = try? two.update(tokens.1) { $0 + 1 } }
        }
        for _ in 0..<300 { _ = try one.update(tokens.0) { $0 + 1 } }
        other.join()
        #expect(try one.state(tokens.0) == 600)
        one.close()
        two.close()
    }

    @Test func aClaimerThatHangsExpiresAndIsToldSo() throws {
        let bus = try Bus()
        let (claimer, reader) = (try bus.client(), try bus.client())
        let seen = Seen()
        let watch = try reader.registerDirect("n") { seen.add($0) }
        let token = try claimer.claim("n", ClaimOptions(state: 1, will: 99, deadline: 1000))
        // Renewed for longer than its deadline; a machine that stood still that long is no bug.
        var (last, longest) = (Clock.system.boot(), UInt64(0))
        let end = last + 1_500_000_000
        while last < end {
            try claimer.renew(token)
            let now = Clock.system.boot()
            longest = max(longest, now - last)
            last = now
        }
        #expect(seen.count == 0 || longest > 900_000_000)
        #expect(eventually { seen.count == 1 })
        #expect(seen.all.first?.cause == .expired && seen.all.first?.state == 99)
        #expect(try reader.information(watch).cause == .expired)
        #expect(throws: NotifyStatus.claimExpired) { try claimer.setState(token, 1) }
        #expect(throws: NotifyStatus.claimExpired) { try claimer.renew(token) }
        claimer.close()
        reader.close()
    }

    @Test func afterARestartAClaimedNameIsUnknownUntilItsClaimerIsBack() throws {
        let bus = try Bus()
        let (claimer, reader) = (try bus.client(), try bus.client())
        let token = try claimer.claim("n", ClaimOptions(state: 5))
        let watch = try reader.registerCheck("n")
        #expect(try reader.information(watch).connection == claimer.connection)
        bus.stop()
        claimer.close()
        _ = token
        try bus.start()
        #expect(eventually { (try? reader.information(watch).cause) == .unknown })
        let next = try bus.client()
        _ = try next.claim("n", ClaimOptions(state: 6))
        let info = try reader.information(watch)
        #expect(info.cause == .post && info.connection == next.connection && info.state == 6)
        next.close()
        reader.close()
    }

    @Test func afterARestartTheNewestStateOfAPlainNameCounts() throws {
        let bus = try Bus()
        let (one, two) = (try bus.client(), try bus.client())
        let tokens = (try one.registerCheck("n"), try two.registerCheck("n"))
        try one.setState(tokens.0, 1)
        try two.setState(tokens.1, 2)
        bus.stop()
        try bus.start()
        #expect(eventually { (try? one.state(tokens.0)) == 2 && (try? two.state(tokens.1)) == 2 })
        one.close()
        two.close()
    }

    @Test func whoTellsOwnersSubscribersAndCounts() throws {
        let bus = try Bus()
        let (one, two) = (try bus.client(), try bus.client())
        let seen = Seen()
        let token = try one.claim("w.a", ClaimOptions(state: 3, deadline: 60_000))
        _ = try two.registerDirect("w.a") { seen.add($0) }
        let held = try two.registerDirect("w.a") { seen.add($0) }
        _ = try two.registerCheck("w.b")
        try two.suspend(held)
        for _ in 0..<3 { try one.post(token) }
        #expect(eventually { seen.count >= 1 })
        let reports = try two.who(prefix: "w.")
        #expect(reports.map(\.info.name) == ["w.a", "w.b"])
        let report = try #require(reports.first)
        #expect(report.registrations == 3 && report.subscribers == 2 && report.waiting == 1)
        #expect(report.merged >= 2 && report.info.posts == 3 && report.deadline == 60_000)
        #expect(report.info.pid == Environment.pid && report.info.connection == one.connection)
        #expect(report.endsAt > Clock.system.boot())
        let connections = try two.connections()
        let own = connections.first { $0.number == two.connection }
        #expect(own?.registrations == 3 && own?.waiting == 1 && own?.quotaHits.total == 0)
        #expect(connections.first { $0.number == one.connection }?.posts == 3)
        one.close()
        two.close()
    }

    @Test func aListeningSocketIsTakenOverAndItsPathLeftAlone() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let listener = try PacketSocket.listen(at: path, mode: 0o600)
        var options = BrokerOptions(path: path)
        for _ in 0..<2 {
            options.listener = dup(listener.descriptor)
            let broker = try BrokerThread(options)
            let client = try NotifyClient(path: path)
            #expect(try client.check(try client.registerCheck("n")))
            client.close()
            broker.stop()
            #expect(Files.exists(path))
        }
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        options.listener = pipe.read
        let failure = #expect(throws: SystemError.self) { _ = try BrokerThread(options) }
        #expect(failure?.code == EINVAL)
        Descriptor.close(pipe.read)
        Descriptor.close(pipe.write)
    }

    @Test func theProgramTakesTheSocketThatSystemdHands() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let listener = try PacketSocket.listen(at: path, mode: 0o600)
        var child = try Child(
            "/bin/sh",
            [
                "-c",
                "exec 3<&0; LISTEN_PID=$$ LISTEN_FDS=1 exec \(Program.path) bus --bus \(path)",
            ],
            input: listener.descriptor
        )
        // The connection waits in the backlog until the program serves it.
        let client = try NotifyClient(path: path, attachTimeout: 10_000_000_000)
        #expect(try client.check(try client.registerCheck("n")))
        client.close()
        child.signal(15)
        #expect(child.wait() == .exited(0) && Files.exists(path))
    }

    @Test func aClientThatNeverReadsIsServedNoFurther() throws {
        let bus = try Bus()
        let client = try bus.client()
        let socket = try PacketSocket.connect(to: bus.path)
        try socket.send(RawFrames.hello, waiting: true)
        // Long answers that nobody takes: the broker stops reading, and goes on with the others.
        let request = RawFrames.request(.who(prefix: "", suffix: "", after: ""))
        for index in 0..<600 { _ = try client.registerCheck("name.of.some.length.\(index)") }
        var isFull = false
        for _ in 0..<100_000 where !isFull {
            do throws(SystemError) {
                try socket.send(request)
            } catch {
                isFull = error.wouldBlock
            }
        }
        #expect(isFull)
        var token: NotifyToken = -1
        #expect(
            eventually {
                token = (try? client.registerCheck("n")) ?? -1
                return token >= 0
            }
        )
        #expect(eventually { (try? client.setState(token, 8)) != nil })
        #expect(try client.state(token) == 8)
        client.close()
    }

    @Test("pools of an impossible size and writes beyond them are refused, and nobody is harmed")
    func impossiblePools() throws {
        let bus = try Bus()
        let client = try bus.client()
        for count in [-1, 4097, Int.max] {
            #expect(throws: NotifyStatus.self) { try client.claimPool("p", count: count) }
        }
        let pool = try client.claimPool("p", count: 8)
        for offset in [-1, 8, Int.min, Int.max] {
            var batch = NotifyBatch()
            batch.poolWrite(pool, at: offset, words: [1])
            #expect(throws: NotifyStatus.self) { try client.write(batch, quiet: false) }
        }
        var words: [UInt64] = []
        try client.readPool(pool, at: 0, count: 8, into: &words)
        #expect(words == [UInt64](repeating: 0, count: 8))
        client.close()
    }
}
