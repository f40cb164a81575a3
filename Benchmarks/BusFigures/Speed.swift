internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization

/// One client as fast as it can, and a pool between two.
enum Speed {
    private static let poolName = "bench.pool"

    /// Posts, each in a frame of its own that waits for nothing, until the broker has applied all.
    static func posts(_ count: Int, _ client: NotifyClient) throws {
        let token = try client.registerCheck("bench.posts")
        var batch = NotifyBatch()
        batch.post(token)
        let before = try client.peek(token)
        let start = Clock.system.boot()
        for _ in 0..<count { try client.write(batch) }
        // This one is answered, after all the others.
        try client.post(token)
        let seconds = Double(Clock.system.boot() - start) / 1e9
        let applied = try client.peek(token) &- before
        guard applied == UInt32(count + 1), client.quietErrors == 0 else {
            throw NotifyStatus.failed
        }
        tell("posts-a-second", Double(count) / seconds)
    }

    /// 32 KiB written and posted in one frame; the reader copies them out and posts back.
    static func pool(_ rounds: Int, _ client: NotifyClient) throws {
        let pool = try client.claimPool(poolName, count: Frames.poolRegistersMax)
        let told = Mailbox<Bool>(capacity: 1)
        _ = try client.registerDirect("bench.pool.back") { _ in _ = told.trySend(true) }
        let answer = try client.registerCheck("bench.pool.answer")
        let words = [UInt64](repeating: 0x5a5a, count: Frames.poolRegistersMax)
        var times: [UInt64] = []
        for round in 1...(rounds + 100) {
            var batch = NotifyBatch()
            batch.poolWrite(pool, at: 0, words: words)
            batch.setAndPost(pool, UInt64(round))
            let start = Clock.system.boot()
            try client.write(batch)
            guard told.receive(nanoseconds: 5_000_000_000) != nil else {
                throw NotifyStatus.failed
            }
            if round > 100 { times.append(Clock.system.boot() - start) }
        }
        guard try client.state(answer) == 0x5a5a else { throw NotifyStatus.failed }
        times.sort()
        tell("pool", Double(times[times.count / 2]))
    }

    /// Copies the pool out when told, and says so with the last word that it has read.
    static func reader(_ client: NotifyClient) throws {
        let back = try client.registerCheck("bench.pool.back")
        let answer = try client.registerCheck("bench.pool.answer")
        // The pool is there once its writer has claimed it.
        let known = Atomic(false)
        let token = Atomic<Int32>(0)
        let found = try client.registerDirect(poolName) { event in
            var words: [UInt64] = []
            let pool = token.load(ordering: .acquiring)
            try? client.readPool(pool, at: 0, count: Frames.poolRegistersMax, into: &words)
            var batch = NotifyBatch()
            if let last = words.last, !known.exchange(true, ordering: .relaxed) {
                batch.set(answer, last)
            }
            batch.post(back)
            try? client.write(batch)
        }
        token.store(found, ordering: .releasing)
        let signals = try Signals([.terminate, .interrupt])
        while signals.next() == nil {
            _ = try client.information(found)
            Descriptor.wait(readable: signals.descriptor, milliseconds: 100)
        }
    }
}
