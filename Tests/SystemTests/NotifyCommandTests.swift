import InternalNotification
import LinuxIO
import TestKit
import Testing

/// `intel notify` as a program, on a broker of its own.
@Suite struct NotifyCommandTests {
    private func station() throws -> Station {
        let station = try Station()
        try station.startBus()
        return station
    }

    private func notify(_ station: Station, _ line: String) throws -> Program.Outcome {
        try station.run(["notify"] + line.split(separator: " ").map(String.init))
    }

    @Test("C9: a state lives as long as a registration of its name")
    func states() throws {
        let station = try station()
        #expect(try notify(station, "-s foo 123 -g foo").output == "foo 0\n")
        let watching = try station.start(
            ["notify", "-w", "foo", "-s", "foo", "0xffffffffffffffff", "-g", "foo"]
        )
        #expect(eventually { watching.outputSoFar == "foo 18446744073709551615\n" })
        #expect(try notify(station, "-g foo").output == "foo 18446744073709551615\n")
        watching.signal(15)
        #expect(watching.finish().status == 0)
        #expect(try notify(station, "-g foo").output == "foo 0\n")
        station.killBus()
    }

    @Test(
        "N posts are reported, however they are heard of, and then the program ends",
        arguments: ["-dispatch", "-port", "-file", "-check -z 10", "-plain", "-signal 10"]
    )
    func counted(delivery: String) throws {
        let station = try station()
        let arguments = delivery.split(separator: " ").map(String.init)
        let program = try station.start(["notify", "-v"] + arguments + ["-2", "some.name"])
        // It is registered once the list says so.
        let isThere = eventually {
            (try? notify(station, "-l some.").output.contains("some.name")) ?? false
        }
        #expect(isThere)
        // Posts merge: the second one only counts after the first was told.
        #expect(try notify(station, "-p some.name").status == 0)
        #expect(eventually { program.outputSoFar.contains("some.name") })
        #expect(try notify(station, "-p some.name").status == 0)
        let outcome = program.finish()
        #expect(outcome.status == 0, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("SIGNAL") }
        let type = delivery == "-port" ? "dispatch" : arguments[0].dropFirst()
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasSuffix(" some.name 0 \(type)") })
        station.killBus()
    }

    @Test func jsonTellsWhoPosted() throws {
        let station = try station()
        let program = try station.start(["notify", "--json", "-1", "n"])
        #expect(eventually { (try? notify(station, "-l n").output.contains("n")) ?? false })
        #expect(try notify(station, "-p n").status == 0)
        let outcome = program.finish()
        let event = Array(outcome.output.utf8).withUnsafeBytes { INValue(json: $0) }
        #expect(event["name"]?.stringValue == "n" && event["post"]?.intValue == 1)
        #expect(event["uid"]?.intValue == Int(Environment.uid))
        #expect(event["cause"]?.stringValue == "post" && event["type"]?.stringValue == "dispatch")
        station.killBus()
    }

    @Test func failuresAreToldAndRemembered() throws {
        let station = try station()
        let long = String(repeating: "n", count: 512)
        let outcome = try station.run(["notify", "-p", long, "-s", "ok", "1", "-g", "ok"])
        #expect(outcome.status == 2 && outcome.output == "ok 0\n", "the rest is done all the same")
        #expect(outcome.error.contains(": Failed with code 1: invalid name"))
        #expect(try notify(station, "-w").status == 2)
        station.killBus()
        let away = try notify(station, "-p n")
        #expect(away.status == 2 && away.error.contains("no broker answers (status 9)"))
    }

    @Test("posts that happened before are told at once where --since asks")
    func since() throws {
        let station = try station()
        let keeper = try station.start(["notify", "-w", "n"])
        #expect(eventually { (try? notify(station, "-l n").output.contains("n")) ?? false })
        #expect(try notify(station, "-p n -p n").status == 0)
        #expect(try notify(station, "--since 1 -1 n").output == "n\n")
        keeper.signal(2)
        #expect(keeper.finish().status == 0)
        station.killBus()
    }

    @Test func namesAndConnectionsAsJSON() throws {
        let station = try station()
        let keeper = try station.start(["notify", "-w", "a.b", "-s", "a.b", "7"])
        let isThere = eventually {
            (try? notify(station, "--json -l a.").output.contains(#""state":7"#)) ?? false
        }
        #expect(isThere)
        let name = try notify(station, "--json -l a.").output
        #expect(name.contains(#""name":"a.b","state":7"#) && name.contains(#""subscribers":1"#))
        let all = try notify(station, "--json --who").output
        #expect(all.contains(#""pid":\#(keeper.pid),"#) && all.contains(#""over_quota":{"#))
        keeper.signal(15)
        #expect(keeper.finish().status == 0)
        station.killBus()
    }
}
