import Testing

@testable import Commands

private let sample = Command(
    "sample",
    summary: "a command of the tests",
    flags: [.bus, .spool, .channel],
    run: { _ in 0 }
)

private func places(
    _ arguments: [String] = [],
    _ environment: [String: String] = [:],
    isService: Bool = false,
    answers: Bool = false,
    access: @escaping (String, Bool) -> Places.Access = { _, _ in .absent }
) throws -> Places {
    var places = Places(try ArgumentParser.parse(sample, arguments))
    places.environment = { environment[$0] }
    places.uid = 1000
    places.isService = { isService }
    places.answers = { _ in answers }
    places.access = access
    return places
}

@Test func theFlagWinsOverTheEnvironment() throws {
    let environment = ["INTEL_BUS": "/e/bus", "INTEL_SPOOL": "/e/spool", "INTEL_CHANNEL": "e"]
    let named = try places(["--bus", "/f", "--spool=/g", "--channel", "c"], environment)
    #expect(try named.bus == "/f" && named.spool() == "/g" && named.channel() == "c")
    let other = try places([], environment, isService: true)
    #expect(try other.bus == "/e/bus" && other.spool() == "/e/spool" && other.channel() == "e")
}

@Test func defaultsOfTheService() throws {
    let service = try places(isService: true)
    #expect(service.bus == "/run/intel/bus.sock")
    #expect(service.spool() == "/var/lib/intel/spool")
    #expect(try service.channel() == "intel")
    for name in ["", String(repeating: "c", count: 256)] {
        let odd = try places(["--channel", name], [:])
        #expect(throws: CommandError.self) { try odd.channel() }
    }
}

@Test func defaultsOfEverybodyElse() throws {
    #expect(try places(answers: true).bus == "/run/intel/bus.sock")
    #expect(try places([], ["XDG_RUNTIME_DIR": "/run/user/1"]).bus == "/run/user/1/intel/bus.sock")
    #expect(try places().bus == "/tmp/intel-1000/bus.sock")
    #expect(try places([], ["XDG_STATE_HOME": "/s"]).spool() == "/s/intel/spool")
    #expect(try places([], ["HOME": "/h"]).spool() == "/h/.local/state/intel/spool")
}

@Test func aSpoolThatMayNotBeReadIsNotAnEmptyOne() throws {
    let system = "/var/lib/intel/spool"
    let home = ["HOME": "/h"]
    let own = "/h/.local/state/intel/spool"
    let readable = try places([], home) { path, toWrite in
        path == system ? (toWrite ? .denied : .usable) : .absent
    }
    #expect(readable.spool() == system)
    #expect(readable.spool(toWrite: true) == own)
    let denied = try places([], home) { path, _ in path == system ? .denied : .absent }
    #expect(denied.spool() == system)
    let both = try places([], home) { path, _ in path == system ? .denied : .usable }
    #expect(both.spool() == own)
}
