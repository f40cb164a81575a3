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

        static let all = PowerScenario.allCases.flatMap { scenario in
            [Durability.full, .normal].map { Case(scenario: scenario, durability: $0) }
        }

        var description: String { "\(scenario), \(durability)" }
    }

    @Test(
        "whenever the power goes, what was promised is there, once, and nothing else is broken",
        arguments: Case.all
    )
    func cut(_ given: Case) throws {
        let folder = try TemporaryFolder()
        var promise = try given.scenario.prepare(folder.path)
        let disk = try PowerDisk(folder.path)
        let trace = try given.scenario.trace(folder.path, given.durability)
        var seen: Set<[Int]> = []
        var broken: [String] = []
        for (number, call) in trace.calls.enumerated() {
            try disk.apply(call)
            if case .say(let lines) = call { for line in lines { try promise.hear(line) } }
            if call.isLook { continue }
            for cut in PowerCut.all {
                let remains = PowerRemains(disk, cut, number: number)
                guard seen.insert([remains.fingerprint, promise.hashValue]).inserted else {
                    continue
                }
                let place = try TemporaryFolder()
                try remains.write(to: place.path)
                let check = PowerCheck(
                    root: place.path,
                    promise: promise,
                    durability: cut == .killed ? .full : given.durability
                )
                if let what = check.run() {
                    broken.append("after call \(number), \(call.name), \(cut): \(what)")
                }
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(seen.count): \(broken.prefix(4))")
        let real = try PowerRemains(PowerDisk(folder.path), .killed, number: 0)
        let played = PowerRemains(disk, .killed, number: 0)
        #expect(real.fingerprint == played.fingerprint, "the layer has missed a call")
        print("\(given): \(trace.calls.filter { !$0.isLook }.count) calls, \(seen.count) outcomes")
    }

    @Test(
        "killed before any call, or in the midst of a write: what was promised is there, once",
        arguments: Case.all
    )
    func killed(_ given: Case) throws {
        let folder = try TemporaryFolder()
        let first = try given.scenario.prepare(folder.path)
        let start = PowerRemains(try PowerDisk(folder.path), .killed, number: 0)
        var broken: [String] = []
        var runs = 0
        var hasEnded = false
        while !hasEnded {
            for isTorn in [false, true] {
                let place = try TemporaryFolder()
                try start.write(to: place.path)
                var environment = ["POWER_KILL": "\(runs / 2 + 1)"]
                if isTorn { environment["POWER_TORN"] = "1" }
                let outcome = try given.scenario.run(place.path, given.durability, environment)
                runs += 1
                if outcome.ending == .exited(0) { hasEnded = true }
                #expect(hasEnded || outcome.ending == .signalled(9))
                var promise = first
                for line in outcome.lines { try promise.hear(line) }
                let check = PowerCheck(root: place.path, promise: promise, durability: .full)
                if let what = check.run() {
                    broken.append("before call \(runs / 2 + 1), torn \(isTorn): \(what)")
                }
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(runs): \(broken.prefix(4))")
        #expect(runs > 40)
        print("\(given): \(runs) kills")
    }
}
