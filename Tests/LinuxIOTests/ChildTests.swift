import LinuxIO
import Testing

@Suite struct ChildTests {
    @Test(arguments: [0, 1, 42, 255] as [Int32])
    func tellsTheExitStatus(status: Int32) throws {
        var child = try Child("/bin/sh", ["-c", "exit \(status)"])
        let ending = child.wait()
        #expect(ending == .exited(status))
        let again = child.poll()
        #expect(again == .exited(status))
    }

    @Test(arguments: [9, 15] as [Int32])
    func tellsTheSignal(number: Int32) throws {
        let held = try Held()
        var child = try Child("/bin/cat", [], input: held.read)
        let before = child.poll()
        #expect(before == nil)
        child.signal(number)
        let ending = child.wait()
        #expect(ending == .signalled(number))
        // Its number may belong to somebody else by now: nothing is sent to it any more.
        child.signal(number)
        withExtendedLifetime(held) {}
    }

    @Test func passesArgumentsEnvironmentAndOutput() throws {
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        let script = "printf '%s|%s|%s' \"$1\" \"$INTEL_TEST\" \"${PATH:+path}\""
        var child = try Child(
            "/bin/sh",
            ["-c", script, "sh", "a b'\"$c"],
            environment: ["INTEL_TEST": "x=y z"],
            output: pipe.write
        )
        Descriptor.close(pipe.write)
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while case let count = try Descriptor.read(pipe.read, into: &chunk), count > 0 {
            text += chunk[..<count]
        }
        Descriptor.close(pipe.read)
        let ending = child.wait()
        #expect(ending == .exited(0))
        #expect(String(decoding: text, as: UTF8.self) == "a b'\"$c|x=y z|path")
    }

    @Test func saysWhatCouldNotStart() {
        let error = #expect(throws: SystemError.self) { _ = try Child("/no/such/program", []) }
        #expect(error?.isNotFound == true)
        #expect(error?.subject == "/no/such/program")
    }

    @Test func leavesNoProcessBehind() throws {
        let held = try Held()
        let pid = try {
            let child = try Child("/bin/cat", [], input: held.read)
            #expect(Environment.isRunning(pid: child.pid))
            return child.pid
        }()
        #expect(!Environment.isRunning(pid: pid))
        withExtendedLifetime(held) {}
    }

    /// A pipe that nobody writes to: its reader waits for as long as it lives.
    private final class Held {
        let read: Int32
        private let write: Int32

        init() throws {
            (read, write) = try Descriptor.pipe(nonBlockingWrite: false)
        }

        deinit {
            Descriptor.close(read)
            Descriptor.close(write)
        }
    }
}
