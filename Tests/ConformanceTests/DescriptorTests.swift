import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// A broker that has no descriptor left for the next connection.
@Suite struct DescriptorTests {
    @Test("without a descriptor the broker waits, says so once, and goes on when one is free")
    func exhausted() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let error = try Files.create(folder.file("err"))
        var child = try Child(
            "/bin/sh",
            ["-c", "ulimit -n 40; exec \(Program.path) bus --bus \(path)"],
            error: error.raw
        )
        let said = {
            String(decoding: (try? Files.contents(folder.file("err"))) ?? [], as: UTF8.self)
        }
        #expect(eventually { said().contains("listening") })
        let client = try NotifyClient(path: path)
        var all: [RawConnection] = []
        // The program may have inherited some from the runner of the tests.
        // A connect succeeds as long as the backlog has room, served or not.
        for _ in 0..<80 { all.append(try RawConnection(path, greets: false)) }
        #expect(eventually { said().contains("new connections wait") })
        // It neither turns in circles nor leaves those alone that it has.
        let token = try client.registerCheck("n")
        let before = ProcessFigures.runNanoseconds(child.pid)
        try Wake().wait(nanoseconds: 1_000_000_000)
        let spent = ProcessFigures.runNanoseconds(child.pid) - before
        tell("out of descriptors: \(Double(spent) / 1e7) % of a processor (100 before)")
        #expect(spent < 500_000_000)
        try client.setAndPost(token, 5)
        #expect(try client.state(token) == 5)
        #expect(said().split(separator: "\n").count { $0.contains("new connections wait") } == 1)
        // As connections end, those that wait are served.
        all = []
        let late = try NotifyClient(path: path, attachTimeout: 30_000_000_000)
        let theirs = try late.registerCheck("n")
        #expect(try late.state(theirs) == 5)
        client.close()
        late.close()
        child.signal(15)
        #expect(child.wait() == .exited(0))
        #expect(said().contains("times no descriptor was left"))
    }

    @Test("a service takes all the descriptors that its hard limit allows")
    func raised() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        var child = try Child(
            "/bin/sh",
            ["-c", "ulimit -Sn 30; ulimit -Hn 300; exec \(Program.path) bus --bus \(path)"]
        )
        let client = try NotifyClient(path: path, attachTimeout: 30_000_000_000)
        let limits = String(
            decoding: try Files.contents("/proc/\(child.pid)/limits"),
            as: UTF8.self
        )
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        #expect(line?.split(separator: " ").filter { $0 == "300" }.count == 2)
        client.close()
        child.signal(15)
        #expect(child.wait() == .exited(0))
    }
}
