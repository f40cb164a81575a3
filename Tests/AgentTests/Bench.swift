import Dispatch
import InternalNotification
import LinuxIO
import NotifyBroker
import NotifyClient
import Spool
import Telemetry
import TestKit

@testable import Agent

/// A collector on a real bus and spool, turned by hand.
final class Bench {
    let folder: TemporaryFolder
    let path: String
    private(set) var broker: BrokerThread
    let spool = SpoolThread()
    /// The collector's end of the bus.
    let client: NotifyClient
    var collector: Collector

    init(clock: Clock = .system, compaction: CompactionLimits = CompactionLimits()) throws {
        folder = try TemporaryFolder()
        path = folder.file("bus.sock")
        broker = try BrokerThread(path: path)
        let wake = try Wake()
        let directory = folder.file("spool")
        try spool.start(
            directory: directory,
            durability: .normal,
            compaction: compaction,
            completed: wake
        )
        client = try NotifyClient(path: path)
        collector = Collector(
            source: try BusSource(client: client, channel: "c", wake: wake, clock: clock),
            books: try StoredBooks(directory: directory).open(),
            spool: spool,
            clock: clock,
            credentials: (1, 0)
        )
    }

    /// A program on this bus.
    func center(_ identifier: String) -> INCenter {
        let config = INAppConfig(identifier: identifier, busPath: path)
        let queue = DispatchQueue(label: identifier)
        return INCenter(identifier: "c", config: config, callbackQueue: queue)
    }

    /// Turns the collector until something is so.
    func turn(until isSo: () -> Bool) -> Bool {
        eventually {
            _ = collector.turn()
            return isSo()
        }
    }

    /// Another broker in the place of the first.
    ///
    /// - Parameter early: is given its socket before anybody else finds it.
    func restartBus(_ early: (String) throws -> Void) throws {
        broker.stop()
        let hidden = folder.file("early.sock")
        broker = try BrokerThread(path: hidden)
        try early(hidden)
        try Files.rename(hidden, to: path)
    }

    /// Stops collecting, in order.
    func finish() {
        collector.finish()
        spool.stop()
        collector.close()
    }

    /// The books as they are in the spool.
    func books(_ identifier: String) throws -> [PeerState] {
        try SpoolReader(directory: folder.file("spool")).peers()
            .filter { $0.instance.identifier == identifier }
    }

    /// Records in the spool of one kind.
    func count(kind: String) throws -> Int {
        var reader = try SpoolReader(directory: folder.file("spool"))
        var found = 0
        _ = try reader.forEach(Query()) { record in
            if record.copy().kind == kind { found += 1 }
            return true
        }
        return found
    }

    deinit {
        broker.stop()
    }
}
