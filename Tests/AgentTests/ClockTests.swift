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
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let broker = try BrokerThread(path: path)
        let step = Step()
        let clock = Clock(
            wall: { Clock.system.wall() + step.offset.withLock { $0 } },
            boot: Clock.system.boot
        )
        let wake = try Wake()
        let spool = SpoolThread()
        try spool.start(
            directory: folder.file("spool"),
            durability: .normal,
            completed: wake
        )
        var collector = Collector(
            source: try BusSource(
                client: try NotifyClient(path: path),
                channel: "c",
                wake: wake,
                clock: clock
            ),
            books: try StoredBooks(directory: folder.file("spool")).open(),
            spool: spool,
            clock: clock,
            credentials: (1, 0)
        )
        let config = INAppConfig(identifier: "steady", busPath: path)
        let center = INCenter(
            identifier: "c",
            config: config,
            callbackQueue: DispatchQueue(label: "q")
        )
        let day: Int64 = 86_400_000_000_000
        for offset in [0, 400 * day, -400 * day, 0] {
            step.offset.withLock { $0 = offset }
            let sent = center.messenger.statistics.sent + 1
            center.messenger.send([INMessage(kind: "k", payload: .number("\(sent)"))])
            let isStored = eventually {
                _ = collector.turn()
                return center.messenger.statistics.stored == sent
            }
            #expect(isStored)
        }
        #expect(collector.figures.alive == 2 && collector.figures.missing == 0)
        collector.finish()
        spool.stop()
        collector.close()
        var reader = try SpoolReader(directory: folder.file("spool"))
        var seen: [String] = []
        _ = try reader.forEach(Query()) { record in
            let copy = record.copy()
            seen.append("\(copy.kind) \(String(decoding: copy.payload, as: UTF8.self).prefix(20))")
            return true
        }
        #expect(seen.filter { $0.hasPrefix("k ") } == ["k 1", "k 2", "k 3", "k 4"])
        #expect(seen.filter { $0.hasPrefix("intel.presence") }.count == 1)
        center.stop()
        broker.stop()
    }
}
