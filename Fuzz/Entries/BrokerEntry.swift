internal import Basics
internal import NotifyBroker
internal import NotifyProtocol

/// Bytes as a story of four connections: frames, whole or damaged, time that passes, readers that
/// come and go; the broker's state must agree with the slow model after each step.
package struct BrokerEntry {
    /// Longer inputs are cut, so that no quota and no answer's end is ever met.
    static let bytesMax = 4096
    private static let names = ["a", "b", "c.1", "é", "user.uid.5.x", "intel.system.y"]
    private static let users: [UInt32] = [0, 5, 5, 6]
    private static let layout = MemoryLayoutOfBus(slots: 1024, poolWords: 1 << 20)

    private let bench = Bench(layout: Self.layout)
    private var model = SlowModel()
    private var seats: [UInt64] = []
    private var now: UInt64 = 1_000_000_000
    private var poolWords = 0
    private var input: ArraySlice<UInt8>

    private init(_ input: [UInt8]) {
        self.input = input.prefix(Self.bytesMax)
        seats = Self.users.indices.map { _ in 0 }
        for place in seats.indices { connect(place) }
    }

    /// What is wrong; nil if nothing is.
    package static func run(_ input: [UInt8]) -> String? {
        var story = BrokerEntry(input)
        while !story.input.isEmpty {
            if let wrong = story.step() ?? story.names() { return wrong }
        }
        return story.finish()
    }

    private mutating func byte() -> Int { Int(input.popFirst() ?? 0) }

    private mutating func connect(_ place: Int) {
        let (pid, uid) = (Int32(place + 1), Self.users[place])
        seats[place] = bench.connect(pid: pid, uid: uid)
        model.connect(seats[place], pid: pid, uid: uid)
    }

    private mutating func step() -> String? {
        let kind = byte() % 8
        if kind < 2 {
            now += UInt64(byte() << 8 | byte()) * 1_000_000
            _ = bench.state.tick(now: now)
            model.tick(now: now)
            return nil
        }
        let place = byte() % seats.count
        switch kind {
        case 2: return events(seats[place])
        case 3: return leave(place, saysGoodbye: byte() % 2 == 1)
        case 4:
            let count = min(byte() << 8 | byte(), input.count)
            let frame = Array(input.prefix(count))
            input = input.dropFirst(count)
            return send(frame, place)
        default:
            let count = 1 + byte() % 4
            var writer = ByteWriter()
            Frames.Header(.request, count: count, serial: 1).append(to: &writer)
            for _ in 0..<count { append(to: &writer) }
            Frames.seal(&writer)
            return send(writer.bytes, place)
        }
    }

    /// Four bytes as an operation that gets somewhere.
    private mutating func append(to writer: inout ByteWriter) {
        let (code, number, name, value) = (byte(), UInt32(byte() % 6), byte(), UInt64(byte()))
        let text = Self.names[name % Self.names.count]
        let current = model.registers[SlowModel.key(text)]?.number ?? 0
        switch code % 16 {
        case 0: Operation.register(number, text, delivers: value % 2 == 0).append(to: &writer)
        case 1, 2: registration(number, text, Int(value)).append(to: &writer)
        case 3: Operation.cancel(token: number).append(to: &writer)
        case 4: Operation.suspend(token: number).append(to: &writer)
        case 5: Operation.resume(token: number).append(to: &writer)
        case 6: Operation.set(token: number, state: value).append(to: &writer)
        case 7: Operation.post(token: number).append(to: &writer)
        case 8: Operation.setAndPost(token: number, state: value).append(to: &writer)
        case 9: Operation.postName(text).append(to: &writer)
        case 10:
            let words = Array(repeating: value, count: 1 + name % 4)
            Operation.appendPoolWrite(
                token: number,
                offset: Int(value % 16),
                words: words,
                to: &writer
            )
        case 11: Operation.inspect(token: number).append(to: &writer)
        case 12: Operation.renew(token: number).append(to: &writer)
        case 13: Operation.who(prefix: "", suffix: "", after: text).append(to: &writer)
        case 14: Operation.goodbye.append(to: &writer)
        default:
            Operation.compareAndSet(
                token: number,
                number: current &- value % 2,
                state: value,
                posts: value % 3 == 0
            ).append(to: &writer)
        }
    }

    private func registration(_ token: UInt32, _ name: String, _ value: Int) -> Operation {
        var wanted = Registration(token: token, name: name, delivers: value & 1 != 0)
        wanted.claims = value & 2 != 0
        wanted.reclaims = value & 4 != 0
        wanted.wasClaimed = value & 8 != 0
        wanted.will = value & 16 != 0 ? 99 : nil
        wanted.linger = value & 32 != 0 ? 2 : 0
        wanted.deadline = value & 64 != 0 ? 1500 : 0
        wanted.pool = value & 128 != 0 ? 16 : 0
        wanted.state = UInt64(value)
        wanted.stateTime = now - UInt64(value)
        return .register(wanted)
    }

    private mutating func leave(_ place: Int, saysGoodbye: Bool) -> String? {
        if saysGoodbye, let wrong = send(Bench.request([.goodbye]), place) { return wrong }
        bench.state.disconnect(seats[place], now: now)
        model.disconnect(seats[place], now: now)
        connect(place)
        return nil
    }

    /// The operations of a frame, each with its pool words; nil if it is malformed.
    private static func operations(_ frame: [UInt8]) -> [(Operation, [UInt64])]? {
        frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.request.rawValue, Int(header.length) == bytes.count,
                header.count <= 4096
            else { return nil }
            var found: [(Operation, [UInt64])] = []
            for _ in 0..<header.count {
                guard let operation = try? Operation(from: &reader) else { return nil }
                var words: [UInt64] = []
                if case .poolWrite(_, _, let range) = operation {
                    var inside = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
                    while let word = try? inside.u64() { words.append(word) }
                }
                found.append((operation, words))
            }
            return reader.isAtEnd ? found : nil
        }
    }

    private mutating func send(_ frame: [UInt8], _ place: Int) -> String? {
        let number = seats[place]
        // Whether it is done at once or in turns of a few units must make no difference.
        let work = frame.count % 3 == 0 ? Int.max : frame.count % 40 + 1
        let reply = bench.receive(frame, from: number, now: now, work: work)
        guard let operations = Self.operations(frame) else {
            guard case .close = reply else { return "\(frame) was taken: \(reply)" }
            return leave(place, saysGoodbye: false)
        }
        if case .close(let why) = reply { return "\(operations) was not taken: \(why)" }
        var expected: [UInt32] = []
        for (operation, words) in operations {
            if case .register(let wanted) = operation { poolWords += min(wanted.pool, 4096) }
            expected.append(model.apply(operation, number, now: now, words: words))
        }
        let isQuiet = frame[12] & 1 != 0 && expected.allSatisfy { $0 == 0 }
        let got = Bench.answered(reply).map(\.status)
        if got == (isQuiet ? [] : expected) { return nil }
        return "\(operations): \(got), not \(expected)"
    }

    private mutating func events(_ number: UInt64) -> String? {
        let got = bench.events(number).sorted { $0.token < $1.token }
        let expected = model.takeEvents(number)
            .sorted { Int32(bitPattern: $0.token) < Int32(bitPattern: $1.token) }
        let isSame =
            got.count == expected.count
            && zip(got, expected).allSatisfy { event, seat in
                event.token == Int32(bitPattern: seat.token) && event.merged == seat.merged
                    && event.post == seat.post && event.state == seat.state
                    && event.cause == seat.cause && event.stateNumber == seat.number
                    && event.connection == seat.sender
            }
        return isSame ? nil : "events of \(number): \(got), not \(expected)"
    }

    /// Every name against the model: its register, its claimer, its pool.
    private func names() -> String? {
        guard bench.state.figures.names == model.registers.count else {
            return "\(bench.state.figures.names) names, not \(model.registers.count)"
        }
        for (key, register) in model.registers {
            let info = bench.state.information(String(decoding: key, as: UTF8.self))
            let connection =
                register.claim.map { $0.lingersUntil == nil ? $0.connection : 0 } ?? 0
            let isSame =
                info?.state == register.state && info?.posts == register.posts
                && info?.stateNumber == register.number && info?.cause == register.cause
                && info?.connection == connection && info?.pid == register.claim?.holder.pid ?? 0
                && info?.poolCount == register.pool.count
            guard isSame, let info else {
                return "\(key) is \(String(describing: info)), not \(register)"
            }
            guard info.memory == 0 else { continue }
            for (index, word) in register.pool.enumerated() {
                let offset = Self.layout.poolWord(info.poolBase + index)
                let found = bench.memory.bytes.load(fromByteOffset: offset, as: UInt64.self)
                if found != word { return "word \(index) of \(key) is \(found), not \(word)" }
            }
        }
        return nil
    }

    /// The counts in full; and with everybody gone nothing is left.
    private mutating func finish() -> String? {
        for report in bench.reports(seats[0]) {
            let register = model.registers[SlowModel.key(report.info.name)]
            let seats = register?.seats ?? []
            guard Int(report.registrations) == seats.count, report.merged == register?.merged,
                Int(report.subscribers) == seats.count(where: \.delivers),
                Int(report.waiting) == seats.count(where: { $0.merged > 0 }),
                report.endsAt == register?.claim?.end ?? 0
            else { return "\(report), not \(String(describing: register))" }
        }
        for number in seats { bench.state.disconnect(number, now: now) }
        _ = bench.state.tick(now: .max)
        let figures = bench.state.figures
        guard figures.names == 0, figures.connections == 0 else { return "left: \(figures)" }
        let used = Self.layout.poolWord(min(poolWords, Self.layout.poolWords))
        let isClean = stride(from: 0, to: used, by: 8).allSatisfy { offset in
            bench.memory.bytes.load(fromByteOffset: offset, as: UInt64.self) == 0
        }
        return isClean ? nil : "memory is not given back clean"
    }
}
