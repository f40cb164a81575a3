import FuzzEntries
import LinuxIO
import NotifyBroker
import NotifyProtocol
import Testing

/// Rules that are put in the place of others, and those that a package installs.
@Suite struct RulesChangeTests {
    private func rules(_ text: String) throws -> AccessRules {
        try RulesFile.parse(
            text,
            RulesFile.Directory(
                user: { $0 == "intel" ? 990 : $0 == "root" ? 0 : nil },
                group: { $0 == "intel" ? 991 : $0 == "root" ? 0 : nil }
            )
        )
    }

    @Test func newRulesHoldForNewNames() throws {
        let bench = Bench(rules: try rules("reserve a. 0 0 rwr-r-"))
        let user = bench.connect(uid: 501, gid: 501)
        #expect(bench.apply([.register(1, "a.old"), .post(token: 1)], from: user) == [0, 7])
        bench.state.replace(try rules("reserve b. 0 0 rw----"), now: 0)
        let operations: [Operation] = [
            .post(token: 1), .register(2, "a.new"), .post(token: 2), .register(3, "b.new"),
        ]
        #expect(bench.apply(operations, from: user) == [7, 0, 0, 7])
        // The old name is a new one, once nobody has it any more.
        #expect(bench.apply([.cancel(token: 1)], from: user) == [0])
        #expect(bench.apply([.register(1, "a.old"), .post(token: 1)], from: user) == [0, 0])
    }

    @Test func namesThatRulesHoldComeAndGoWithThem() throws {
        let bench = Bench(rules: try rules("set kept 1\nset gone 2\nset used 3"))
        let root = bench.connect()
        let first: [Operation] = [
            .register(1, "kept"), .set(token: 1, state: 10), .cancel(token: 1),
            .register(2, "used"),
        ]
        #expect(bench.apply(first, from: root) == [0, 0, 0, 0])
        bench.state.replace(try rules("set kept 5\nset more 6"), now: 9)
        #expect(bench.state.information("kept")?.state == 10, "a state is not set back")
        #expect(bench.state.information("more")?.state == 6)
        #expect(bench.state.information("gone") == nil)
        #expect(bench.state.information("used")?.state == 3, "somebody has it")
        #expect(bench.apply([.cancel(token: 2)], from: root) == [0])
        #expect(bench.state.information("used") == nil)
        #expect(bench.state.figures.names == 2)
    }

    @Test func theShippedRulesKeepOneUsersTelemetryFromAnothers() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let bytes = try Files.contents("/" + root + "/packaging/bus.rules")
        let shipped = try rules(String(decoding: bytes, as: UTF8.self))
        let bench = Bench(rules: shipped)
        let one = bench.connect(uid: 501, gid: 501)
        let two = bench.connect(uid: 502, gid: 502)
        let collector = bench.connect(uid: 990, gid: 991)
        // A peer claims its names; the collector reads and answers in them; another user sees none.
        let epoch = "intel.0a0b0c0d.epoch"
        #expect(
            bench.apply([.claim(1, epoch), .claim(2, "intel.0a0b0c0d.pool")], from: one) == [0, 0]
        )
        #expect(bench.apply([.register(1, epoch)], from: collector) == [0])
        let taken = "intel.0a0b0c0d.taken.01020304.7"
        #expect(bench.apply([.claim(2, taken)], from: collector) == [0])
        #expect(bench.apply([.register(3, taken)], from: one) == [0])
        #expect(bench.apply([.register(1, epoch), .register(2, taken)], from: two) == [7, 7])
        #expect(bench.names(two, prefix: "intel.").isEmpty)
        // Everybody sees the collector, and nobody else can be it.
        #expect(bench.apply([.claim(3, "intel.collector")], from: two) == [7])
        #expect(bench.apply([.claim(3, "intel.collector")], from: collector) == [0])
        let looks: [Operation] = [.register(4, "intel.collector"), .post(token: 4)]
        #expect(bench.apply(looks, from: two) == [0, 7])
        // The signal that there is something is everybody's.
        let signal: [Operation] = [.register(5, "intel.msg"), .post(token: 5)]
        #expect(bench.apply(signal, from: one) == [0, 0])
        #expect(bench.apply(signal, from: two) == [0, 0])
    }

    @Test func endsForMalformedFramesAreTheirUsers() {
        let bench = Bench()
        for _ in 0..<3 {
            let bad = bench.connect(uid: 501, gid: 501)
            let frame = Bench.request([.postName("x")]).dropLast(5)
            _ = Array(frame).withUnsafeBytes { bench.state.receive($0, from: bad, now: 0) }
            bench.state.disconnect(bad, now: 0)
        }
        let one = bench.connect(uid: 501, gid: 501)
        let two = bench.connect(uid: 502, gid: 502)
        for (number, count) in [(one, 3), (two, 0)] as [(UInt64, UInt32)] {
            let found = Listing.all(of: ConnectionReport.init(from:)) { last in
                let operation = Operation.connections(after: last?.number ?? 0)
                return bench.ask([operation], from: number).first?.body ?? []
            }
            #expect(found.map(\.malformed) == [count])
        }
        #expect(bench.state.figures.malformed == 3)
    }
}
