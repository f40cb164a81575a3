import Dispatch
import LinuxIO
import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit
import Testing

@Suite struct DeliveryTests {
    @Test("D1: a handler runs on the queue that was given, with its token")
    func queue() throws {
        let bus = try Bus()
        let client = try bus.client()
        let queue = DispatchQueue(label: "d1")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 11)
        let found = Mutex<[Int?]>([])
        let seen = Seen()
        let token = try client.registerDispatch("d1", queue: queue) { event in
            found.withLock { $0.append(DispatchQueue.getSpecific(key: key)) }
            seen.add(event)
        }
        try client.post("d1")
        #expect(eventually { seen.count == 1 })
        #expect(seen.all.first?.token == token)
        #expect(found.withLock { $0 } == [11])
    }

    @Test("D1: a handler of the client's own may make every call")
    func handler() throws {
        let bus = try Bus()
        let client = try bus.client()
        let statuses = Mutex<[NotifyStatus]>([])
        let other = try client.registerCheck("d1.other")
        _ = try client.registerHandler("d1.calls") { event in
            do throws(NotifyStatus) {
                try client.setAndPost(other, event.state + 1)
                try client.post("d1.nobody")
                let more = try client.registerCheck("d1.more")
                try client.cancel(more)
                try client.cancel(event.token)
                statuses.withLock { $0.append(.ok) }
            } catch {
                statuses.withLock { $0.append(error) }
            }
        }
        try client.post("d1.calls")
        #expect(eventually { statuses.withLock { $0 } == [.ok] })
        #expect(try client.state(other) == 1)
    }

    @Test("D2, D3: a descriptor carries the tokens, big-endian, of all that share it")
    func descriptor() throws {
        let bus = try Bus()
        let client = try bus.client()
        let one = try client.registerFileDescriptor("d3.one")
        let two = try client.registerFileDescriptor("d3.two", reuse: one.descriptor)
        #expect(two.descriptor == one.descriptor)
        for (name, token) in [("d3.one", one.token), ("d3.two", two.token)] {
            try client.post(name)
            #expect(try tokens(in: one.descriptor) == [token])
        }
    }

    @Test("D4: the descriptor is closed with the last token, not before")
    func closing() throws {
        let bus = try Bus()
        let client = try bus.client()
        let one = try client.registerFileDescriptor("d4")
        let two = try client.registerFileDescriptor("d4", reuse: one.descriptor)
        try client.cancel(one.token)
        try client.post("d4")
        #expect(try tokens(in: one.descriptor) == [two.token])
        try client.cancel(two.token)
        #expect(throws: NotifyStatus.invalidFile) {
            try client.registerFileDescriptor("d4", reuse: one.descriptor)
        }
    }

    @Test("D6: N registrations hear of one post N times")
    func many() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        for _ in 0..<500 { _ = try client.registerHandler("d6") { seen.add($0) } }
        try client.post("d6")
        #expect(eventually { seen.count == 500 })
        #expect(Set(seen.all.map(\.token)).count == 500)
    }

    @Test(
        "D7: a reader that was stopped hears of the last post",
        .enabled(if: CLibrary.mayRun, CLibrary.advice)
    )
    func stopped() throws {
        let bus = try Bus()
        let client = try bus.client()
        let reader = try CLibrary.Run("listen", bus: bus.path)
        #expect(eventually { reader.output == "0\n" })
        reader.signal(19)
        // The long round is 1,000,000 posts.
        let rounds = Environment["INTEL_LONG_TESTS"] == nil ? 100_000 : 1_000_000
        let token = try client.registerCheck("listen")
        var posted = 0
        while posted < rounds {
            var batch = NotifyBatch()
            for _ in 0..<1000 { batch.post(token) }
            try client.write(batch, quiet: false)
            posted += 1000
        }
        reader.signal(18)
        #expect(eventually { reader.output.hasSuffix("\n\(rounds)\n") })
        #expect(reader.output.split(separator: "\n").count < rounds)
    }

    @Test("D8: a pipe that was full gets each waiting token once it drains")
    func fullPipe() throws {
        let bus = try Bus()
        let client = try bus.client()
        let one = try client.registerFileDescriptor("d8")
        let two = try client.registerFileDescriptor("d8.two", reuse: one.descriptor)
        for _ in 1..<500 {
            _ = try client.registerFileDescriptor("d8", reuse: one.descriptor)
        }
        // 16,384 tokens fill a pipe; some of the posts may merge.
        for _ in 0..<100 { try client.post("d8") }
        try client.post("d8.two")
        try Wake().wait(nanoseconds: silence)
        var found = try tokens(in: one.descriptor)
        #expect(found.count == 16_384, "the pipe was not full")
        let came = try eventually {
            found += try tokens(in: one.descriptor, milliseconds: 10)
            return found.contains(two.token)
        }
        #expect(came)
        #expect(found.count <= 16_384 + 501)
        try client.post("d8.two")
        let again = try eventually {
            try tokens(in: one.descriptor, milliseconds: 10).last == two.token
        }
        #expect(again)
    }

    @Test("D9: a post that nobody is registered for is fine, and forgotten")
    func nobody() throws {
        let bus = try Bus()
        let client = try bus.client()
        try client.post("d9")
        try client.postOneWay("d9")
        let seen = Seen()
        _ = try client.registerHandler("d9") { seen.add($0) }
        #expect(try staysAt(0, seen))
        #expect(client.quietErrors == 0)
    }

    @Test("D10: a delivery that waits in a queue is dropped when its token is cancelled")
    func cancelWhileQueued() throws {
        let bus = try Bus()
        let client = try bus.client()
        let queue = DispatchQueue(label: "d10")
        let (blocked, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.async {
            blocked.signal()
            go.wait()
        }
        blocked.wait()
        let seen = Seen()
        let token = try client.registerDispatch("d10", queue: queue) { seen.add($0) }
        try client.post("d10")
        try client.cancel(token)
        go.signal()
        queue.sync {}
        #expect(seen.count == 0)
    }

    @Test("D10: after cancel a handler neither runs nor will, though posts rain", arguments: 0..<5)
    func cancelWhileRunning(round: Int) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let token = try client.registerHandler("d10") { event in
            _ = try? Wake().wait(nanoseconds: 2_000_000)
            seen.add(event)
        }
        repeat { try client.post("d10") } while seen.count < 2
        try client.cancel(token)
        let count = seen.count
        for _ in 0..<10 { try client.post("d10") }
        #expect(try staysAt(count, seen))
    }
}
