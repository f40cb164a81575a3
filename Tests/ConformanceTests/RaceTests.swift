import Dispatch
import LinuxIO
import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit
import Testing

/// How many rounds a test of chance or endurance makes.
enum Rounds {
    /// `short`; `long` where INTEL_LONG_TESTS is set; what INTEL_ROUNDS says, if it does.
    static func count(_ short: Int, long: Int = 100_000) -> Int {
        if let given = Environment["INTEL_ROUNDS"].flatMap({ Int($0) }) { return given }
        return Environment["INTEL_LONG_TESTS"] == nil ? short : long
    }
}

/// H: notify(3)'s own tests of load and chance, for names of the bus and for `self.` names.
@Suite(.serialized) struct RaceTests {
    static let prefixes = ["h.", "self.h."]

    /// Nothing of a test is left in the client or the broker.
    private func expectNothing(_ client: NotifyClient, _ bus: Bus) throws {
        let other = try bus.client()
        #expect(try eventually { try other.list(prefix: "").isEmpty })
        let own = try other.connections().first { $0.number == client.connection }
        #expect(own?.registrations == 0 && own?.waiting == 0)
    }

    @Test("H: registering, cancelling and posting by four threads at once", arguments: prefixes)
    func parallel(prefix: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let rounds = Rounds.count(2000) / 4
        let failures = Mutex<[String]>([])
        let queue = DispatchQueue(label: "parallel")
        let threads = try (0..<4).map { number in
            try OwnedThread("parallel") {
                let name = prefix + "parallel.\(number % 2)"
                do throws(NotifyStatus) {
                    for _ in 0..<rounds {
                        let check = try client.registerCheck(name)
                        try client.cancel(check)
                        let told = try client.registerDispatch(name, queue: queue) { _ in }
                        try client.post(name)
                        try client.cancel(told)
                        try client.post(name)
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.withLock { $0 } == [])
        try expectNothing(client, bus)
    }

    @Test("H: after a cancel on its own queue no handler runs", arguments: prefixes)
    func cancelledIsSilent(prefix: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let queue = DispatchQueue(label: "silent")
        let late = Atomic(0)
        let name = prefix + "silent"
        let isOver = Atomic(false)
        let poster = try OwnedThread("poster") {
            while !isOver.load(ordering: .relaxed) { try? client.post(name) }
        }
        for _ in 0..<Rounds.count(1000) {
            let isCancelled = Atomic(false)
            let gone = Flag()
            let token = try client.registerDispatch(name, queue: queue) { _ in
                if gone.isSet { late.add(1, ordering: .relaxed) }
            }
            try queue.sync {
                try client.cancel(token)
                gone.set()
            }
            isCancelled.store(true, ordering: .relaxed)
        }
        isOver.store(true, ordering: .relaxed)
        poster.join()
        queue.sync {}
        #expect(late.load(ordering: .relaxed) == 0)
        try expectNothing(client, bus)
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    @Test("H: nested and interleaved pairs of one name and of two", arguments: prefixes)
    func pairs(prefix: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let names = [prefix + "pair", prefix + "other"]
        for round in 1...Rounds.count(1000) {
            let same = round % 2 == 0
            let outer = try client.registerCheck(names[0])
            let inner = try client.registerCheck(names[same ? 0 : 1])
            guard try client.state(outer) == 0, try client.state(inner) == 0 else {
                Issue.record("a state of round \(round - 1) is left")
                return
            }
            try client.setState(outer, UInt64(round))
            guard try client.state(inner) == (same ? UInt64(round) : 0) else {
                Issue.record("wrong state in round \(round)")
                return
            }
            // Nested: the inner one goes first; interleaved: the outer one.
            let isNested = round % 4 < 2
            try client.cancel(isNested ? inner : outer)
            if isNested || same {
                let left = isNested ? outer : inner
                #expect(try client.state(left) == UInt64(round))
            }
            try client.cancel(isNested ? outer : inner)
            #expect(!client.isValid(inner) && !client.isValid(outer))
        }
        try expectNothing(client, bus)
    }

    @Test("H: many registrations, then as many cancels", arguments: prefixes)
    func bulk(prefix: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let count = Rounds.count(5000)
        var tokens: [NotifyToken] = []
        for index in 0..<count {
            tokens.append(try client.registerCheck(prefix + "bulk.\(index % 1000)"))
        }
        #expect(Set(tokens).count == count)
        for token in tokens.prefix(1000) { try client.setState(token, UInt64(token)) }
        // Half of them from the front, the rest from the back.
        for token in tokens.prefix(count / 2) { try client.cancel(token) }
        let last = try #require(tokens.last)
        #expect(try client.state(last) == UInt64(tokens[(count - 1) % 1000]))
        for token in tokens.suffix(count - count / 2).reversed() { try client.cancel(token) }
        try expectNothing(client, bus)
    }

    @Test("H: a client that is closed in the midst of events", arguments: prefixes)
    func closing(prefix: String) throws {
        let bus = try Bus()
        let poster = try bus.client()
        let isOver = Atomic(false)
        let thread = try OwnedThread("poster") {
            while !isOver.load(ordering: .relaxed) { try? poster.post("h.closing") }
        }
        for _ in 0..<min(Rounds.count(100), 2000) {
            let client = try NotifyClient(path: bus.path)
            let seen = Seen()
            _ = try client.registerDirect("h.closing") { seen.add($0) }
            _ = try client.registerHandler(prefix + "closing") { seen.add($0) }
            _ = try client.registerDispatch(
                prefix + "closing",
                queue: DispatchQueue(label: "closing")
            ) { seen.add($0) }
            try client.post(prefix + "closing")
            client.close()
        }
        isOver.store(true, ordering: .relaxed)
        thread.join()
        try expectNothing(poster, bus)
    }
}
