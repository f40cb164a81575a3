import Glibc
import LinuxIO
import Synchronization
import Testing

@Suite struct ThreadTests {
    @Test func runsNamedAndJoins() throws {
        let name = Mutex("")
        let thread = try OwnedThread("a-name-longer-than-15") {
            let comm = (try? Files.contents("/proc/thread-self/comm")) ?? []
            name.withLock { $0 = String(decoding: comm, as: UTF8.self) }
        }
        thread.join()
        thread.join()
        #expect(name.withLock { $0 } == "a-name-longer-t\n")
    }

    @Test func endsWithoutBeingJoined() throws {
        let wake = try Wake()
        do { _ = try OwnedThread("alone") { wake.ring() } }
        #expect(wake.wait(nanoseconds: 10 * second))
    }

    /// On a thread of its own, because the signals stay blocked in the thread that asked for them.
    @Test func hearsSignals() throws {
        let heard = Mutex<[Signals.Signal?]>([])
        let thread = try OwnedThread("signals") {
            guard let signals = try? Signals([.hangUp, .interrupt]) else { return }
            let before = signals.next()
            raise(SIGHUP)
            let first = signals.wait()
            raise(SIGINT)
            let second = signals.next()
            heard.withLock { $0 = [before, first, second, signals.next()] }
        }
        thread.join()
        #expect(heard.withLock { $0 } == [nil, .hangUp, .interrupt, nil])
    }

    @Test func clocksGoForward() {
        let boot = (0..<1000).map { _ in Clock.system.boot() }
        #expect(boot == boot.sorted())
        // After 2020, before 2200.
        #expect(
            (1_577_836_800_000_000_000..<7_258_118_400_000_000_000).contains(Clock.system.wall())
        )
        let still = Clock(wall: { 5 }, boot: { 6 })
        #expect(still.wall() == 5 && still.boot() == 6)
    }

    @Test func knowsItsSurroundings() {
        #expect(Environment.isRunning(pid: Environment.pid))
        #expect(!Environment.isRunning(pid: 0x3fff_ffff))
        #expect(Environment["INTEL_NO_SUCH_VARIABLE"] == nil)
        #expect(Environment["PATH"] != nil)
        #expect(Environment.executable.hasPrefix("/"))
        #expect(!Environment.hostName.isEmpty && Environment.processorCount > 0)
    }
}
