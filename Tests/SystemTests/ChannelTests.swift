import Glibc
import LinuxIO
import TestKit
import Testing

/// A channel on the bus of the whole machine: a user's peers are that user's and the collector's.
@Suite(.enabled(if: Environment.uid == 0, "needs root, to become other users: NOT RUN"))
struct ChannelTests {
    /// Sends a line as another user.
    private func send(_ text: String, as peer: String, uid: Int, _ program: String, bus: String)
        throws -> Child.Ending
    {
        let folder = try TemporaryFolder()
        try Files.write(text + "\n", to: folder.file("in"))
        let input = try Files.openToRead(folder.file("in"))
        var child = try Child(
            "/usr/bin/setpriv",
            [
                "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", program, "send",
                "--as", peer,
            ],
            environment: ["INTEL_BUS": bus, "TZ": "UTC"],
            input: input.raw
        )
        return child.wait()
    }

    @Test func peersOfSeveralUsersAreCollectedAcrossARestartOfTheBroker() throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        let (bus, rules) = (folder.file("bus.sock"), folder.file("rules"))
        try Files.write("claimed intel. 0 rwrw--\n", to: rules, mode: 0o600)
        let program = folder.file("intel")
        var copy = try Child("/bin/cp", [Program.path, program])
        #expect(copy.wait() == .exited(0))
        let environment = [
            "INTEL_BUS": bus, "INTEL_SPOOL": folder.file("spool"), "TZ": "UTC",
        ]
        var broker = try Program(["bus", "--rules", rules], environment: environment)
        #expect(eventually { broker.errorSoFar.contains("listening") })
        let agent = try Program(["agent", "--bus-mode", "external"], environment: environment)
        #expect(eventually { agent.errorSoFar.contains("collecting") })
        #expect(try send("before", as: "one", uid: 501, program, bus: bus) == .exited(0))
        broker.signal(9)
        _ = broker.finish()
        broker = try Program(["bus", "--rules", rules], environment: environment)
        #expect(eventually { broker.errorSoFar.contains("listening") })
        #expect(try send("after", as: "two", uid: 502, program, bus: bus) == .exited(0))
        #expect(
            eventually {
                let found = try? Program.run(["query"], environment: environment).output
                return found?.contains("before") == true && found?.contains("after") == true
            }
        )
        agent.signal(15)
        #expect(agent.finish().status == 0)
        broker.signal(15)
        #expect(broker.finish().status == 0)
    }
}
