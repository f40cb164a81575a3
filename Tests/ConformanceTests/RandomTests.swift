import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// H: a thousand slots of tokens, and any call on any of them, beside a model of what is right.
@Suite struct RandomTests {
    /// A generator that a seed repeats (splitmix64).
    struct Seeded: RandomNumberGenerator {
        var word: UInt64

        mutating func next() -> UInt64 {
            word &+= 0x9e37_79b9_7f4a_7c15
            var mixed = word
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    /// What is known of a name and of a token.
    private struct Name {
        var state: UInt64 = 0
        var posts = 0
        var tokens = 0
    }

    private struct Slot {
        var token: NotifyToken
        var name: Int
        /// Posts of the name at the last check; nil before the first.
        var checkedAt: Int?
        var suspensions = 0
    }

    private struct Mix {
        let client: NotifyClient
        let prefix: String
        let seen = Seen()
        let pipe: Int32
        var names = [Name](repeating: Name(), count: 40)
        var slots = [Slot?](repeating: nil, count: 1000)
        var random: Seeded

        init(_ client: NotifyClient, _ prefix: String, seed: UInt64) throws {
            self.client = client
            self.prefix = prefix
            random = Seeded(word: seed)
            pipe = try client.registerFileDescriptor(prefix + "pipe").descriptor
        }

        mutating func register(_ place: Int) throws {
            let index = Int.random(in: 0..<names.count, using: &random)
            let name = prefix + "mix.\(index)"
            let token: NotifyToken
            switch Int.random(in: 0..<4, using: &random) {
            case 0: token = try client.registerCheck(name)
            case 1: token = try client.registerHandler(name) { [seen] in seen.add($0) }
            case 2: token = try client.registerDirect(name) { [seen] in seen.add($0) }
            default: token = try client.registerFileDescriptor(name, reuse: pipe).token
            }
            slots[place] = Slot(token: token, name: index)
            names[index].tokens += 1
        }

        mutating func cancel(_ place: Int, _ slot: Slot) throws {
            try client.cancel(slot.token)
            slots[place] = nil
            names[slot.name].tokens -= 1
            // With its last token a name ends: state 0, posts from 0.
            if names[slot.name].tokens == 0 { names[slot.name] = Name() }
        }

        /// One call; false if it answered something that the model does not.
        mutating func step() throws -> Bool {
            let place = Int.random(in: 0..<slots.count, using: &random)
            guard var slot = slots[place] else {
                try register(place)
                return true
            }
            let name = names[slot.name]
            switch Int.random(in: 0..<12, using: &random) {
            case 0...1:
                try cancel(place, slot)
                return !client.isValid(slot.token)
            case 2...3:
                try client.post(slot.token)
                names[slot.name].posts += 1
            case 4:
                try client.post(prefix + "mix.\(slot.name)")
                names[slot.name].posts += 1
            case 5...6:
                let state = random.next()
                try client.setState(slot.token, state)
                names[slot.name].state = state
            case 7...8: return try client.state(slot.token) == name.state
            case 9:
                try client.suspend(slot.token)
                slot.suspensions += 1
            case 10:
                try client.resume(slot.token)
                slot.suspensions = max(0, slot.suspensions - 1)
            default:
                let isNew = try client.check(slot.token)
                let isRight = isNew == (slot.checkedAt != name.posts)
                slot.checkedAt = name.posts
                slots[place] = slot
                return isRight
            }
            slots[place] = slot
            return true
        }
    }

    @Test(
        "H: 1,000 slots of every kind, and any call on any of them",
        arguments: RaceTests.prefixes
    )
    func anything(prefix: String) throws {
        let bus = try Bus()
        let client = try bus.client()
        let seed = Clock.system.boot()
        var mix = try Mix(client, prefix, seed: seed)
        for round in 0..<Rounds.count(20_000, long: 1_000_000) {
            // The pipe is emptied now and then, and sometimes runs over.
            if round % 3000 == 0 { _ = try tokens(in: mix.pipe, milliseconds: 0) }
            guard try mix.step() else {
                Issue.record("round \(round) of seed \(seed) is not as the model says")
                return
            }
        }
        for case .some(let slot) in mix.slots { try client.cancel(slot.token) }
        // Only the pipe's own name is left.
        #expect(try bus.client().list(prefix: "").count == (prefix == "h." ? 1 : 0))
    }
}
