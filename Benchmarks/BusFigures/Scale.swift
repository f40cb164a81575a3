internal import Dispatch
internal import InternalNotification
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import TestKit

/// Many of everything, and what each costs the broker.
enum Scale {
    /// One post, told to so many connections: nanoseconds that the broker runs for each.
    static func subscribers(
        _ count: Int,
        _ rounds: Int,
        _ pid: Int32,
        _ client: NotifyClient,
        _ path: String
    ) throws {
        let token = try client.registerCheck("bench.wide")
        let all = try (0..<count).map { _ in
            let raw = try RawConnection(path)
            raw.forgetMemory()
            let wanted = Registration(token: 1, name: "bench.wide", delivers: true)
            guard try raw.ask([.register(wanted)]) == [0] else { throw NotifyStatus.failed }
            return raw
        }
        let before = ProcessFigures.runNanoseconds(pid)
        for round in 1...UInt64(rounds) {
            try client.setAndPost(token, round)
            for raw in all {
                let frame = try raw.receive()
                guard RawFrames.lastState(frame) == round else { throw NotifyStatus.failed }
            }
        }
        let spent = ProcessFigures.runNanoseconds(pid) - before
        tell("subscriber", Double(spent) / Double(count * rounds))
    }

    /// Names, each registered in a call of its own.
    static func names(_ count: Int, _ pid: Int32, _ client: NotifyClient) throws {
        let before = ProcessFigures.dataBytes(pid)
        let start = Clock.system.boot()
        for index in 0..<count { _ = try client.registerCheck("bench.names.\(index)") }
        tell("name-ns", Double(Clock.system.boot() - start) / Double(count))
        tell("name-bytes", Double(ProcessFigures.dataBytes(pid) - before) / Double(count))
    }

    /// Messages of a peer: once and a half around its ring.
    private static let messages = 12

    /// Random letters, so that packing leaves enough of them.
    private static func noise(_ count: Int) -> String {
        String(decoding: (0..<count).map { _ in UInt8.random(in: 48...90) }, as: UTF8.self)
    }

    /// Peers with all their names, whose pools a collector has read and they have filled.
    static func peers(_ count: Int, _ pid: Int32, _ path: String) throws {
        let queue = DispatchQueue(label: "callbacks")
        let before = ProcessFigures.dataBytes(pid)
        let all = (0..<count).map { index in
            INCenter(
                identifier: "intel",
                config: INAppConfig(identifier: "com.example.bench.\(index)", busPath: path),
                callbackQueue: queue
            )
        }
        guard eventually(30, { all.allSatisfy { $0.messenger.statistics.isAttached } }) else {
            throw NotifyStatus.serverNotFound
        }
        let idle = ProcessFigures.dataBytes(pid)
        for center in all {
            for _ in 0..<messages {
                let text = INValue.string(noise(4 << 10))
                center.messenger.send([INMessage(kind: "bench", payload: text)])
            }
        }
        guard eventually(30, { all.allSatisfy { $0.messenger.statistics.stored == messages } })
        else {
            throw NotifyStatus.failed
        }
        let full = ProcessFigures.dataBytes(pid)
        tell("peer-idle-bytes", Double(idle - before) / Double(count))
        tell("peer-bytes", Double(full - before) / Double(count))
        for center in all { center.stop() }
    }
}
