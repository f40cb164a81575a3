import Glibc
import LinuxIO
import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit
import Testing

/// A client that does all it can to disturb, beside two that talk to each other.
///
/// Each test is a process of its own that begins as root: the flood comes from another user, to
/// whom the quotas of everybody apply. Times are printed; what is asserted is generous, as the
/// machine may be busy with anything.
@Suite(
    .serialized,
    .enabled(if: Environment.uid == 0, "needs root, to become another user: NOT RUN")
)
struct FloodTests {
    /// Post to callback and back, between two clients, in ns.
    private final class Talk {
        private let one: NotifyClient
        private let answers = Mailbox<Bool>(capacity: 16)
        private let ping: NotifyToken

        init(_ bus: Bus) throws {
            one = try bus.client()
            let two = try bus.client()
            ping = try one.registerCheck("talk.ping")
            let pong = try two.registerCheck("talk.pong")
            var batch = NotifyBatch()
            batch.post(pong)
            let answer = batch
            _ = try two.registerDirect("talk.ping") { _ in try? two.write(answer) }
            _ = try one.registerDirect("talk.pong") { [answers] _ in _ = answers.trySend(true) }
        }

        /// Round trips, sorted; fewer if they take longer than 8 s in all.
        func roundTrips(_ count: Int) throws -> [UInt64] {
            var batch = NotifyBatch()
            batch.post(ping)
            var times: [UInt64] = []
            let end = Clock.system.boot() + 8_000_000_000
            while times.count < count, Clock.system.boot() < end {
                let start = Clock.system.boot()
                try one.write(batch)
                guard answers.receive(nanoseconds: 20_000_000_000) != nil else { break }
                times.append(Clock.system.boot() - start)
            }
            return times.sorted()
        }
    }

    /// What one connection of the flood does until it is told to stop.
    typealias Flood = @Sendable (_ path: String, _ isOver: () -> Bool) throws -> Void

    /// Measures round trips alone and beside a flood, and what the flood has cost the broker.
    ///
    /// - Parameter quota: what the flood has to meet before it is over, if it is to meet any; those
    ///   of so many a second are not met on every machine.
    /// - Returns: what `intel notify --who --json` says of connections and names meanwhile.
    @discardableResult
    private static func measure(
        _ what: String,
        threads: Int = 1,
        quota: String? = nil,
        _ flood: @escaping Flood
    ) throws -> String {
        let bus = try ruledBus("")
        let talk = try Talk(bus)
        let count = Rounds.count(1500, long: 20_000)
        _ = try talk.roundTrips(200)
        let alone = try talk.roundTrips(count)
        let isOver = Flag()
        let path = bus.path
        // The flood's connections are another user's; later ones too, as the process stays so.
        setegid(UserTests.nobody)
        seteuid(UserTests.nobody)
        let floods = try (0..<threads).map { _ in
            try OwnedThread("flood") {
                do { try flood(path) { isOver.isSet } } catch { tell("\(what) ended: \(error)") }
            }
        }
        let under = try talk.roundTrips(count)
        var said = ""
        let isSeen = try eventually {
            said = try bus.station.run(["notify", "--who", "--json"]).output
            return quota.map { overQuota($0, in: said) > 0 } ?? true
        }
        let memory = ProcessFigures.residentBytes(bus.station.busPid)
        isOver.set()
        for thread in floods { thread.join() }
        seteuid(0)
        setegid(0)
        report(what, alone, under, memory)
        #expect(under.count > 20 && under[under.count / 2] < 1_000_000_000)
        #expect(memory < 512 << 20)
        #expect(isSeen, "\(what): no quota met in \(said)")
        // Once it is over, all is as before.
        #expect(try eventually { try talk.roundTrips(100).last ?? .max < 1_000_000_000 })
        return said
    }

    private static func report(_ what: String, _ alone: [UInt64], _ under: [UInt64], _ memory: Int)
    {
        func at(_ times: [UInt64], _ share: Int) -> Double {
            times.isEmpty ? 0 : Double(times[(times.count - 1) * share / 100]) / 1000
        }
        tell(
            "flood of \(what): p50 \(at(alone, 50)) -> \(at(under, 50)) us, "
                + "p99 \(at(alone, 99)) -> \(at(under, 99)) us "
                + "(x \(at(under, 99) / max(1, at(alone, 99)))), broker \(memory >> 20) MiB"
        )
    }

    final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// The largest number behind a key in lines of JSON.
    static func largest(_ key: String, in text: String) -> Int {
        var found = 0
        var rest = text[...]
        while let range = rest.firstRange(of: "\"\(key)\":") {
            rest = rest[range.upperBound...]
            found = max(found, Int(rest.prefix { $0.isNumber }) ?? 0)
        }
        return found
    }

    /// How often the connection that did so most has met a quota.
    private static func overQuota(_ quota: String, in text: String) -> Int {
        var found = 0
        var rest = text[...]
        while let start = rest.firstRange(of: "\"over_quota\":{") {
            rest = rest[start.upperBound...]
            found = max(found, largest(quota, in: String(rest.prefix { $0 != "}" })))
        }
        return found
    }

    @Test("a flood of posts, alone and in batches")
    func posts() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("posts") { path, isOver in
                let client = try NotifyClient(path: path)
                let token = try client.registerDirect("flood") { _ in }
                var batch = NotifyBatch()
                for _ in 0..<1000 { batch.post(token) }
                while !isOver() { try client.write(batch) }
                client.close()
            }
            #expect(FloodTests.largest("posts", in: said) > 1000)
            #expect(FloodTests.largest("merged", in: said) > 0)
        }
        tellAgain(ended)
    }

    @Test("a flood of posts to 1,000 registrations each")
    func wide() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("wide posts") { path, isOver in
                let raw = try RawConnection(path)
                let all = (1...1000 as ClosedRange<UInt32>).map {
                    Operation.register(Registration(token: $0, name: "flood", delivers: true))
                }
                for start in stride(from: 0, to: all.count, by: 250) {
                    _ = try raw.ask(Array(all[start..<start + 250]))
                }
                let frame = RawFrames.request(
                    [Operation](repeating: .post(token: 1), count: 500),
                    isQuiet: true
                )
                try FloodTests.push(frame, raw, isOver)
            }
            #expect(FloodTests.largest("merged", in: said) > 0)
        }
        tellAgain(ended)
    }

    @Test("a flood of registrations, until the quota and beyond")
    func registrations() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("registrations", quota: "names") {
                path,
                isOver in
                let raw = try RawConnection(path)
                var next: UInt32 = 0
                while !isOver() {
                    let wanted = (next..<next + 400).map { token in
                        Operation.register(Registration(token: token, name: "flood.\(token)"))
                    }
                    next += 400
                    _ = try raw.ask(wanted)
                }
            }
            #expect(FloodTests.largest("registrations", in: said) > 1000)
        }
        tellAgain(ended)
    }

    @Test("a flood of pools, written whole, until the quota and beyond")
    func pools() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("pools", quota: "pool_words") { path, isOver in
                let client = try NotifyClient(path: path)
                let words = [UInt64](repeating: 1, count: 4096)
                var made: [NotifyToken] = []
                while !isOver() {
                    guard let pool = try? client.claimPool("flood.\(made.count)", count: 4096)
                    else { continue }
                    made.append(pool)
                    var batch = NotifyBatch()
                    batch.poolWrite(pool, at: 0, words: words)
                    try client.write(batch)
                }
                client.close()
            }
            #expect(FloodTests.largest("pool_words", in: said) > 4096)
        }
        tellAgain(ended)
    }

    @Test("a flood of half frames, each on a new connection")
    func halves() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("half frames") { path, isOver in
                while !isOver() {
                    let raw = try RawConnection(path)
                    try raw.send(Array(RawFrames.request(.postName("flood")).dropLast(5)))
                    _ = try? raw.receive()
                }
            }
            #expect(FloodTests.largest("malformed", in: said) > 100)
        }
        tellAgain(ended)
    }

    @Test("a flood of requests whose answers nobody reads, on 50 connections")
    func neverReading() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("unread answers") { path, isOver in
                let all = try (0..<50).map { _ in try RawConnection(path) }
                for raw in all {
                    for token in 1...20 as ClosedRange<UInt32> {
                        try raw.send(RawFrames.register("flood", token: token))
                    }
                }
                let frames = [
                    RawFrames.request(.who(prefix: "", suffix: "", after: "")),
                    RawFrames.request(.postName("flood")),
                ]
                while !isOver() {
                    for raw in all {
                        for frame in frames { try? raw.send(frame, waiting: false) }
                    }
                }
            }
            #expect(FloodTests.largest("waiting", in: said) > 0)
        }
        tellAgain(ended)
    }

    @Test("a flood of listings")
    func listings() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure("listings", quota: "posts") { path, isOver in
                let raw = try RawConnection(path)
                for start in stride(from: 1, to: 2001, by: 400) as StrideTo<UInt32> {
                    let wanted = (start..<start + 400).map { token in
                        Operation.register(Registration(token: token, name: "flood.\(token)"))
                    }
                    _ = try raw.ask(wanted)
                }
                // Nothing fits, so that the answers stay small and the looking does not end.
                let one = Operation.who(prefix: "none", suffix: "none", after: "")
                let two = Operation.connections(after: .max)
                let frame = RawFrames.request(
                    (0..<1000).map { $0 % 2 == 0 ? one : two },
                    isQuiet: true
                )
                try FloodTests.push(frame, raw, isOver)
            }
            #expect(FloodTests.largest("refused", in: said) > 0)
        }
        tellAgain(ended)
    }

    /// Sends a frame again and again, and reads what is answered.
    static func push(_ frame: [UInt8], _ raw: RawConnection, _ isOver: () -> Bool) throws {
        while !isOver() {
            try? raw.send(frame, waiting: false)
            while let answer = try? raw.receive(waiting: false), !answer.isEmpty {}
        }
    }
}
