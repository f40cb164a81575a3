import Dispatch
import LinuxIO
import NotifyBroker
import Synchronization
import Telemetry
import TestKit
import Testing

@testable import InternalNotification

/// Two centers on a real bus, without an agent: the published surface.
@Suite struct CenterTests {
    private final class Inbox: Sendable {
        let messages = Mutex<[INMessage]>([])
        let changes = Mutex<[PresenceChange.Kind]>([])
    }

    @Test(
        "siblings hear each other's messages in order, never their own, and see who comes and goes"
    )
    func siblings() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let broker = try BrokerThread(path: path)
        let queue = DispatchQueue(label: "callbacks")
        func center(_ name: String) -> INCenter {
            let config = INAppConfig(identifier: name, apikey: "k", busPath: path)
            return INCenter(identifier: "c", config: config, callbackQueue: queue)
        }
        let listener = center("listener")
        let inbox = Inbox()
        listener.onPresence { change in inbox.changes.withLock { $0.append(change.kind) } }
        listener.messenger.onReceive { more in inbox.messages.withLock { $0 += more } }
        #expect(eventually { listener.messenger.statistics.isAttached })
        let sender = center("sender")
        for index in 0..<120 {
            sender.messenger.send([INMessage(kind: "n", payload: ["i": .number("\(index)")])])
        }
        #expect(eventually { inbox.messages.withLock { $0.count } == 120 })
        let heard = inbox.messages.withLock { $0 }
        #expect(heard.map(\.sequence) == Array(1...120))
        #expect(heard.compactMap { $0.payload["i"]?.intValue } == Array(0..<120))
        #expect(heard.allSatisfy { $0.sender?.identifier == "sender" })
        sender.stop()
        #expect(eventually { inbox.changes.withLock { $0 } == [.appeared, .left] })
        listener.stop()
        broker.stop()
    }

    @Test("a center that has stopped leaves nothing in memory")
    func released() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let broker = try BrokerThread(path: path)
        weak var core: SenderCore?
        do {
            let center = INCenter(
                identifier: "c",
                config: INAppConfig(identifier: "passing", busPath: path),
                callbackQueue: DispatchQueue(label: "passing")
            )
            center.messenger.onReceive { _ in }
            core = center.messenger.core
            #expect(eventually { center.messenger.statistics.isAttached })
            center.messenger.send([INMessage(kind: "k", payload: 1)])
            center.stop()
            #expect(center.messenger.statistics.isAttached, "as it was to the end")
        }
        #expect(eventually { core == nil })
        broker.stop()
    }

    @Test("deliver without a collector times out and says so")
    func nobodyStores() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let broker = try BrokerThread(path: path)
        let config = INAppConfig(identifier: "lonely", busPath: path)
        let center = INCenter(
            identifier: "c",
            config: config,
            callbackQueue: DispatchQueue(label: "q")
        )
        await #expect(throws: INError.timedOut) {
            try await center.messenger.deliver(
                [INMessage(kind: "k", payload: "x")],
                timeout: 200_000_000
            )
        }
        center.stop()
        broker.stop()
    }
}
