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
    /// Measures round trips alone and beside a flood, and what the flood has cost the broker.
    ///
    /// - Parameter quota: what the flood has to meet before it is over, if it is to meet any; those
    ///   of so many a second are not met on every machine.
    /// - Returns: what `intel notify --who --json` says of connections and names meanwhile.
    @discardableResult
    private static func measure(_ flood: Flood, quota: String? = nil) throws -> String {
        let bus = try ruledBus("")
        let talk = try Talk(try bus.client(), try bus.client())
        let count = Rounds.count(1500, long: 20_000)
        _ = try talk.roundTrips(200)
        let alone = try talk.roundTrips(count)
        let isOver = Flag()
        let path = bus.path
        // The flood's connections are another user's; later ones too, as the process stays so.
        setegid(UserTests.nobody)
        seteuid(UserTests.nobody)
        let thread = try OwnedThread("flood") {
            do { try flood.run(path) { isOver.isSet } } catch { tell("\(flood) ended: \(error)") }
        }
        let under = try talk.roundTrips(count)
        var said = ""
        let isSeen = try eventually {
            said = try bus.station.run(["notify", "--who", "--json"]).output
            return quota.map { overQuota($0, in: said) > 0 } ?? true
        }
        let memory = ProcessFigures.residentBytes(bus.station.busPid)
        isOver.set()
        thread.join()
        seteuid(0)
        setegid(0)
        report(flood, alone, under, memory)
        #expect(under.count > 20 && under[under.count / 2] < 1_000_000_000)
        #expect(memory < 512 << 20)
        #expect(isSeen, "\(flood): no quota met in \(said)")
        // Once it is over, all is as before.
        #expect(try eventually { try talk.roundTrips(100).last ?? .max < 1_000_000_000 })
        return said
    }

    private static func report(_ flood: Flood, _ alone: [UInt64], _ under: [UInt64], _ memory: Int)
    {
        func at(_ times: [UInt64], _ share: Int) -> Double {
            times.isEmpty ? 0 : Double(times[(times.count - 1) * share / 100]) / 1000
        }
        tell(
            "flood of \(flood): p50 \(at(alone, 50)) -> \(at(under, 50)) us, "
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
            let said = try FloodTests.measure(.posts)
            #expect(FloodTests.largest("deferred", in: said) > 10)
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
            let said = try FloodTests.measure(.wide)
            #expect(FloodTests.largest("deferred", in: said) > 10)
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
            let said = try FloodTests.measure(.registrations, quota: "names")
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
            let said = try FloodTests.measure(.pools, quota: "pool_words")
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
            let said = try FloodTests.measure(.halves)
            #expect(FloodTests.largest("malformed", in: said) > 100)
        }
        tellAgain(ended)
    }

    @Test("a flood of requests whose answers nobody reads, on 50 connections")
    func unread() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let said = try FloodTests.measure(.unread)
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
            let said = try FloodTests.measure(.listings)
            #expect(FloodTests.largest("deferred", in: said) > 10)
        }
        tellAgain(ended)
    }

    @Test("a flood of connections that end with 10,000 names each")
    func ends() async {
        let ended = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            try FloodTests.measure(.ends)
        }
        tellAgain(ended)
    }
}
