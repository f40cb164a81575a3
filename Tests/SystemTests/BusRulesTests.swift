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
