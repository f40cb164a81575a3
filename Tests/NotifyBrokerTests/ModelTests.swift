import FuzzEntries
import LinuxIO
import NotifyBroker
import NotifyProtocol
import Testing

/// The broker against a slow, obvious model, with random frames of several connections.
///
/// INTEL_MODEL_ROUNDS sets how many rounds each seed has.
@Suite struct ModelTests {
    /// A small generator (xorshift) whose sequence is its seed's.
    struct Seeded: RandomNumberGenerator {
        var word: UInt64

        mutating func next() -> UInt64 {
            word ^= word << 13
            word ^= word >> 7
            word ^= word << 17
            return word
        }
    }

    private static let names = ["a", "b", "c.1", "c.2", "é"]

    private static func operation(_ random: inout Seeded, _ model: SlowModel) -> Operation {
        let name = names.randomElement(using: &random) ?? "a"
        let token = UInt32.random(in: 0..<6, using: &random)
        let value = UInt64.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1, 2: return .register(token, name, delivers: Bool.random(using: &random))
        case 3, 4:
            var wanted = Registration(token: token, name: name)
            wanted.claims = true
            wanted.delivers = Bool.random(using: &random)
            wanted.state = value
            wanted.will = Bool.random(using: &random) ? 99 : nil
            wanted.linger = [0, 0, 1, 2].randomElement(using: &random) ?? 0
            wanted.deadline = [0, 0, 500, 1500].randomElement(using: &random) ?? 0
            return .register(wanted)
        case 5: return .cancel(token: token)
        case 6: return .suspend(token: token)
        case 7, 8: return .resume(token: token)
        case 9, 10: return .set(token: token, state: value)
        case 11, 12: return .post(token: token)
        case 13, 14: return .setAndPost(token: token, state: value)
        case 15: return .postName(name)
        case 16: return .renew(token: token)
        case 17, 18:
            let number =
                (model.registers[SlowModel.key(name)]?.number ?? 0)
                &- UInt64.random(in: 0...1, using: &random)
            return .compareAndSet(
                token: token,
                number: number,
                state: value,
                posts: Bool.random(using: &random)
            )
        default: return .unknown(999)
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func theyAgree(seed: UInt64) {
        var random = Seeded(word: seed &* 0x9e37_79b9_7f4a_7c15)
        let bench = Bench()
        var model = SlowModel()
        let rounds = Environment["INTEL_MODEL_ROUNDS"].flatMap { Int($0) } ?? 2000
        var now: UInt64 = 1_000_000_000
        var seats = (0..<4).map { bench.connect(pid: Int32($0 + 1)) }
        for round in 0..<rounds {
            let place = Int.random(in: 0..<seats.count, using: &random)
            let number = seats[place]
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                let left = Bool.random(using: &random)
                if left { _ = bench.apply([.goodbye], from: number) }
                bench.disconnect(number, now: now, work: left ? 1 : .max)
                model.disconnect(number, left: left, now: now)
                seats[place] = bench.connect(pid: Int32(place + 1))
            case 1...6:
                now += UInt64.random(in: 1..<400_000_000, using: &random)
                _ = bench.state.tick(now: now)
                model.tick(now: now)
            case 7...14: compareEvents(bench, &model, number, "seed \(seed), round \(round)")
            default:
                let count = Int.random(in: 1...4, using: &random)
                let frame = (0..<count).map { _ in Self.operation(&random, model) }
                    .filter { $0 != .unknown(999) }
                // In turns or at once: it must make no difference.
                let work = Bool.random(using: &random) ? Int.max : 1
                let got = bench.apply(frame, from: number, now: now, work: work)
                let expected = frame.map { model.apply($0, number, now: now) }
                guard got == expected else {
                    Issue.record("seed \(seed), round \(round): \(frame): \(got), not \(expected)")
                    return
                }
            }
            guard compareNames(bench, model, "seed \(seed), round \(round)") else { return }
        }
    }

    private func compareNames(_ bench: Bench, _ model: SlowModel, _ at: String) -> Bool {
        guard bench.state.figures.names == model.registers.count else {
            Issue.record("\(at): \(bench.state.figures.names) names, not \(model.registers.count)")
            return false
        }
        for (key, register) in model.registers {
            let name = String(decoding: key, as: UTF8.self)
            let info = bench.state.information(name)
            let connection =
                register.claim.map { $0.lingersUntil == nil ? $0.connection : 0 } ?? 0
            let isSame =
                info?.state == register.state && info?.posts == register.posts
                && info?.stateNumber == register.number && info?.cause == register.cause
                && info?.connection == connection
            guard isSame else {
                Issue.record("\(at): '\(name)' is \(String(describing: info)), not \(register)")
                return false
            }
        }
        return true
    }

    private func compareEvents(
        _ bench: Bench,
        _ model: inout SlowModel,
        _ number: UInt64,
        _ at: String
    ) {
        let got = bench.events(number).sorted { $0.token < $1.token }
        let expected = model.takeEvents(number).sorted { $0.token < $1.token }
        let isSame =
            got.count == expected.count
            && zip(got, expected).allSatisfy { event, seat in
                event.token == Int32(seat.token) && event.merged == seat.merged
                    && event.post == seat.post && event.state == seat.state
                    && event.cause == seat.cause
            }
        if !isSame { Issue.record("\(at): events \(got), not \(expected)") }
    }
}
