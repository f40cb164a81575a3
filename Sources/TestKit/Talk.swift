internal import LinuxIO
public import NotifyClient
internal import NotifyProtocol

/// Post to callback and back, between two clients.
public final class Talk {
    private let one: NotifyClient
    private let answers = Mailbox<Bool>(capacity: 16)
    private let ping: NotifyToken

    /// Registers both sides; the clients are the caller's, to close.
    public init(_ one: NotifyClient, _ two: NotifyClient) throws {
        self.one = one
        ping = try one.registerCheck("talk.ping")
        let pong = try two.registerCheck("talk.pong")
        var batch = NotifyBatch()
        batch.post(pong)
        let answer = batch
        _ = try two.registerDirect("talk.ping") { _ in try? two.write(answer) }
        _ = try one.registerDirect("talk.pong") { [answers] _ in _ = answers.trySend(true) }
    }

    /// Round trips in ns, sorted; fewer than `count` if they take longer than 8 s in all.
    public func roundTrips(_ count: Int) throws -> [UInt64] {
        var batch = NotifyBatch()
        batch.post(ping)
        var times: [UInt64] = []
        let end = Clock.system.boot() + 8_000_000_000
        while times.count < count, Clock.system.boot() < end {
            let start = Clock.system.boot()
            try one.write(batch)
            guard answers.receive(nanoseconds: 20_000_000_000) != nil else { break }
            times.append(Clock.system.boot() - start)
        }
        return times.sorted()
    }
}
