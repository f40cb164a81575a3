import Dispatch
import InternalNotification
import LinuxIO
import NotifyBroker
import NotifyClient
import Spool
import Synchronization
import Telemetry
import TestKit
import Testing

@testable import Agent

/// The collector on a real bus and spool, with a wall clock that steps.
@Suite struct ClockTests {
    /// How far the wall clock is off, ns.
    private final class Step: Sendable {
        let offset = Mutex<Int64>(0)
    }

    @Test("a step of the wall clock makes nobody die or live, and loses nothing")
    func steps() throws {
        let step = Step()
        let clock = Clock(
            wall: { Clock.system.wall() + step.offset.withLock { $0 } },
            boot: Clock.system.boot
        )
        let bench = try Bench(clock: clock)
        let center = bench.center("steady")
        let day: Int64 = 86_400_000_000_000
        for offset in [0, 400 * day, -400 * day, 0] {
            step.offset.withLock { $0 = offset }
            let sent = center.messenger.statistics.sent + 1
            center.messenger.send([INMessage(kind: "k", payload: .number("\(sent)"))])
            #expect(bench.turn { center.messenger.statistics.stored == sent })
        }
        #expect(bench.collector.figures.alive == 2 && bench.collector.figures.missing == 0)
        bench.finish()
        var reader = try SpoolReader(directory: bench.folder.file("spool"))
        var seen: [String] = []
        _ = try reader.forEach(Query()) { record in
            let copy = record.copy()
            seen.append("\(copy.kind) \(String(decoding: copy.payload, as: UTF8.self).prefix(20))")
            return true
        }
        #expect(seen.filter { $0.hasPrefix("k ") } == ["k 1", "k 2", "k 3", "k 4"])
        #expect(seen.filter { $0.hasPrefix("intel.presence") }.count == 1)
        center.stop()
    }
}
