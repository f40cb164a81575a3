import LinuxIO
import NotifyClient
import NotifyProtocol
import Synchronization
import TestKit

/// A real broker process, and clients on it that are closed with it.
final class Bus {
    let station: Station
    private var clients: [NotifyClient] = []

    init(isStarted: Bool = true) throws {
        station = try Station()
        if isStarted { try station.startBus() }
    }

    deinit {
        for client in clients { client.close() }
    }

    var path: String { station.busPath }

    func client() throws -> NotifyClient {
        let made = try NotifyClient(path: path, attachTimeout: 30_000_000_000)
        clients.append(made)
        return made
    }

    /// A client that attaches when it first needs the broker.
    func lateClient() throws -> NotifyClient {
        let made = try NotifyClient(attachingLaterTo: path)
        clients.append(made)
        return made
    }
}

/// Events that a handler has seen.
final class Seen: Sendable {
    private let events = Mutex<[NotifyEvent]>([])

    /// Copied one by one: that the next append waits until nobody has the array any more is told by
    /// its reference count, which the thread sanitizer does not see.
    var all: [NotifyEvent] { events.withLock { $0.map { $0 } } }
    var count: Int { all.count }

    func add(_ event: NotifyEvent) { events.withLock { $0.append(event) } }
}

/// How long nothing must come for a test to say that nothing comes.
let silence: UInt64 = 200_000_000

/// True if `seen` stays at `count` events for a while, after a fence: what the broker had to say
/// before the answer of a call has come before it.
func staysAt(_ count: Int, _ seen: Seen) throws -> Bool {
    try Wake().wait(nanoseconds: silence)
    return seen.count == count
}

/// The tokens that wait in a descriptor, without waiting for any.
func tokens(in descriptor: Int32, milliseconds: Int32 = 30_000) throws -> [NotifyToken] {
    var poller = try Poller()
    try poller.add(descriptor, tag: 0)
    var isReady = false
    try poller.wait(timeout: milliseconds) { _ in isReady = true }
    guard isReady else { return [] }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = try Descriptor.read(descriptor, into: &bytes)
    return stride(from: 0, to: count, by: 4).map { start in
        bytes[start..<start + 4].reduce(0) { $0 << 8 | NotifyToken($1) }
    }
}
