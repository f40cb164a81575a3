import LinuxIO
import Spool
import TestKit
import Testing

/// Crashes and power cuts at every call that changes a file, enumerated.
///
/// A scenario runs once above a layer that writes down its calls (Tests/PowerLayer). Then a disk is
/// played through them (`PowerDisk`), and after each call it is looked at as a kill and as power
/// cuts of several sorts would have left it (`PowerCut`).
@Suite struct PowerTests {
    /// A case of a test.
    struct Case: CustomStringConvertible, Sendable {
        let scenario: PowerScenario
        let durability: Durability

        static let all = PowerScenario.all.flatMap { scenario in
            [Durability.full, .normal].map { Case(scenario: scenario, durability: $0) }
        }

        var description: String { "\(scenario), \(durability)" }
    }

    @Test(
        "whenever the power goes, what was promised is there, once, and nothing else is broken",
        arguments: Case.all
    )
    func cut(_ given: Case) throws {
        let folder = try TemporaryFolder(inMemory: true)
        var promise = try given.scenario.prepare(folder.path)
        let disk = try PowerDisk(folder.path)
        let trace = try given.scenario.trace(folder.path, given.durability)
        var outcomes = PowerOutcomes(durability: given.durability)
        for (number, call) in trace.calls.enumerated() {
            // After a write as before what comes then: a sync, a change of a name, a word.
            if !call.isWrite { try outcomes.look(disk, promise, before: call, number) }
            try disk.apply(call)
            if case .say(let lines) = call { for line in lines { try promise.hear(line) } }
        }
        try outcomes.look(disk, promise, before: nil, trace.calls.count)
        #expect(outcomes.broken.isEmpty, "\(outcomes)")
        #expect(outcomes.count > 40)
        let real = try PowerRemains(PowerDisk(folder.path), .killed, number: 0)
        let played = PowerRemains(disk, .killed, number: 0)
        #expect(real.fingerprint == played.fingerprint, "the layer has missed a call")
        print("power cut, \(given): \(trace.calls.count) calls, \(outcomes.count) outcomes")
    }

    @Test(
        "killed before any call: what was promised is there, once, and nothing else is broken",
        arguments: PowerScenario.all
    )
    func killed(_ scenario: PowerScenario) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let first = try scenario.prepare(folder.path)
        let start = PowerRemains(try PowerDisk(folder.path), .killed, number: 0)
        var broken: [String] = []
        var kills = 0
        let known = PowerFindings()
        while true {
            let place = try TemporaryFolder(inMemory: true)
            try start.write(to: place.path)
            let outcome = try scenario.run(place.path, .full, ["POWER_KILL": "\(kills + 1)"])
            if outcome.ending == .exited(0) { break }
            try #require(outcome.ending == .signalled(9))
            kills += 1
            var promise = first
            for line in outcome.lines { try promise.hear(line) }
            let check = PowerCheck(
                root: place.path,
                promise: promise,
                durability: .full,
                known: known
            )
            if let what = check.run() { broken.append("before call \(kills): \(what)") }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(kills): \(broken.prefix(4))")
        #expect(kills > 100)
        print("killed, \(scenario): \(kills) calls")
    }

    @Test("killed before a sync, started again, and then the power goes: what was told stays")
    func killedAndCut() throws {
        let (start, folder) = (
            try TemporaryFolder(inMemory: true), try TemporaryFolder(inMemory: true)
        )
        let trace = try PowerScenario.commit.trace(folder.path, .full)
        var outcomes = PowerOutcomes(durability: .full)
        for (number, call) in trace.calls.enumerated() {
            guard case .sync = call else { continue }
            let disk = try PowerDisk(folder.path, from: start.path)
            var promise = PowerPromise(last: 0)
            for done in trace.calls[..<number] {
                try disk.apply(done)
                if case .say(let lines) = done { for line in lines { try promise.hear(line) } }
            }
            let place = try TemporaryFolder(inMemory: true)
            try PowerRemains(disk, .killed, number: 0).write(to: place.path)
            disk.move(to: place.path)
            for next in try PowerScenario.resume.trace(place.path, .full).calls {
                try disk.apply(next)
                guard case .say(let lines) = next else { continue }
                for line in lines { try promise.hear(line) }
                try outcomes.look(disk, promise, before: call, number, [.synced])
            }
        }
        #expect(outcomes.broken.isEmpty, "\(outcomes)")
        #expect(outcomes.count > 20)
        print("killed, then power cut: \(outcomes.count) outcomes")
    }
}

/// What power cuts of all sorts leave at one call after another.
struct PowerOutcomes: CustomStringConvertible {
    let durability: Durability
    private(set) var broken: [String] = []
    private var seen: Set<[Int]> = []
    private let known = PowerFindings()

    init(durability: Durability) {
        self.durability = durability
    }

    var count: Int { seen.count }

    var description: String { "\(broken.count) of \(count): \(broken.prefix(4))" }

    /// Cuts the power in every way that has not been looked at yet.
    mutating func look(
        _ disk: PowerDisk,
        _ promise: PowerPromise,
        before call: PowerTrace.Call?,
        _ number: Int,
        _ cuts: [PowerCut] = PowerCut.all
    ) throws {
        for cut in cuts {
            let remains = PowerRemains(disk, cut, number: number)
            guard seen.insert([remains.fingerprint, promise.hashValue]).inserted else { continue }
            let place = try TemporaryFolder(inMemory: true)
            try remains.write(to: place.path)
            let check = PowerCheck(
                root: place.path,
                promise: promise,
                durability: durability,
                known: known
            )
            if let what = check.run() {
                broken.append("before \(call?.name ?? "the end"), \(cut): \(what)")
            }
        }
    }
}
