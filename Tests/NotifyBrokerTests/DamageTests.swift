import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// Frames that somebody has tampered with: refused or taken, never a crash, nothing left over.
@Suite struct DamageTests {
    private static let whole: [Operation] = [
        .claim(1, "n", linger: 1, deadline: 50, pool: 64), .register(2, "user.uid.5.x"),
        .set(token: 1, state: 4), .setAndPost(token: 1, state: 5), .post(token: 2),
        .compareAndSet(token: 1, number: 3, state: 4, posts: true), .renew(token: 1),
        .postName("n"), .list(prefix: "", suffix: "", after: ""), .inspect(token: 1),
        .who(prefix: "n", suffix: "", after: ""), .connections(after: 0), .suspend(token: 2),
        .resume(token: 2), .cancel(token: 2),
    ]

    @Test(arguments: [11, 12] as [UInt64])
    func anyBytesAreSurvived(seed: UInt64) {
        var random = ModelTests.Seeded(word: seed &* 0x9e37_79b9_7f4a_7c15)
        let bench = Bench()
        var number = bench.connect(uid: 5)
        var closed = 0
        for round in 0..<3000 as Range<UInt64> {
            let count = Int.random(in: 1...4, using: &random)
            let operations = (0..<count).compactMap { _ in Self.whole.randomElement(using: &random)
            }
            var frame = Bench.request(operations, isQuiet: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<frame.count, using: &random)
                frame[place] = UInt8.random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                frame.removeLast(Int.random(in: 0...frame.count, using: &random))
            }
            if frame.count >= 8, Bool.random(using: &random) {
                // The length is right, so that what follows it is looked at.
                for byte in 0..<4 { frame[4 + byte] = UInt8(frame.count >> (8 * byte) & 0xff) }
            }
            let now = round * 7_000_000
            let reply = frame.withUnsafeBytes { bench.state.receive($0, from: number, now: now) }
            _ = bench.state.tick(now: now)
            _ = bench.events(number)
            if case .close = reply {
                closed += 1
                bench.state.disconnect(number, now: now)
                number = bench.connect(uid: 5)
            }
        }
        #expect(closed > 100 && bench.state.figures.malformed == UInt64(closed))
        bench.state.disconnect(number, now: 0)
        _ = bench.state.tick(now: .max)
        #expect(bench.state.figures.names == 0 && bench.state.figures.connections == 0)
        #expect(bench.memory.bytes.allSatisfy { $0 == 0 })
    }
}
