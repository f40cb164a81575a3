import Glibc
import LinuxIO
import TestKit
import Testing

/// `intel bus --rules FILE`, as a real program.
@Suite struct BusRulesTests {
    private func file(_ text: String, mode: UInt32, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("rules")
        try Files.write(text, to: path, mode: mode)
        return path
    }

    @Test func aMistakeIsNamedByItsLineAndEndsTheProgram() throws {
        let folder = try TemporaryFolder()
        let rules = try file("# fine\nreserve a. nobdy 0 rwrwrw\n", mode: 0o600, in: folder)
        let outcome = try Program.run(
            ["bus", "--bus", folder.file("bus.sock"), "--rules", rules],
            environment: [:],
            input: []
        )
        #expect(outcome.status != 0)
        #expect(outcome.error.contains("'\(rules)', line 2: no user 'nobdy'"))
        #expect(!Files.exists(folder.file("bus.sock")))
    }

    @Test func aMissingFileThatWasAskedForEndsTheProgram() throws {
        let folder = try TemporaryFolder()
        let outcome = try Program.run(
            ["bus", "--bus", folder.file("bus.sock"), "--rules", folder.file("none")],
            environment: [:],
            input: []
        )
        #expect(outcome.status != 0 && outcome.error.contains("No such file"))
    }

    @Test(arguments: ["bus", "agent"])
    func aHangUpReadsTheRulesAgain(_ service: String) throws {
        let station = try Station()
        let rules = try file("set first 1\n", mode: 0o600, in: station.folder)
        let host = try Program([service, "--rules", rules], environment: station.environment)
        let ready = service == "bus" ? "listening" : "collecting"
        #expect(eventually { host.errorSoFar.contains(ready) })
        func state(_ name: String) throws -> String {
            try station.run(["notify", "-g", name]).output
        }
        #expect(try state("first") == "first 1\n")
        try Files.write("set second 2\n", to: rules)
        host.signal(1)
        #expect(
            eventually { host.errorSoFar.contains("intel \(service): the rules are read again") }
        )
        #expect(try eventually { try state("second") == "second 2\n" })
        #expect(try state("first") == "first 0\n")
        // A mistake is told, and changes nothing.
        try Files.write("set third 3\nreserve a. nobdy 0 rwrwrw\n", to: rules)
        host.signal(1)
        let told = "'\(rules)', line 2: no user 'nobdy'; the old rules stay"
        #expect(eventually { host.errorSoFar.contains(told) })
        #expect(try state("second") == "second 2\n" && state("third") == "third 0\n")
        // So is a file that others could write, and one that is gone.
        try Files.write("set fourth 4\n", to: rules)
        chmod(rules, 0o666)
        host.signal(1)
        #expect(eventually { host.errorSoFar.contains("writable by nobody else; the old rules") })
        unlink(rules)
        host.signal(1)
        #expect(eventually { host.errorSoFar.contains("No such file") })
        #expect(try state("second") == "second 2\n" && state("fourth") == "fourth 0\n")
        host.signal(15)
        #expect(host.finish().status == 0)
    }

    @Test func rulesHoldAndAFileThatOthersCouldWriteIsIgnored() throws {
        for isTrusted in [true, false] {
            let folder = try TemporaryFolder()
            let rules = try file("set kept 1\n", mode: 0o600, in: folder)
            // Not by `mode`: the process's mask would take the bit away.
            if !isTrusted { chmod(rules, 0o666) }
            let bus = try Program(["bus", "--bus", folder.file("bus.sock"), "--rules", rules])
            #expect(eventually { bus.errorSoFar.contains("listening") })
            #expect(bus.errorSoFar.contains("ignoring") == !isTrusted)
            bus.signal(15)
            #expect(bus.finish().status == 0)
        }
    }
}
