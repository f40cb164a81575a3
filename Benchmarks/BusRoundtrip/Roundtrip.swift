// Round trips over the bus, between two processes, for `make bench`:
//     bus-roundtrip pong          answers until it is ended
//     bus-roundtrip ping ROUNDS   prints one round trip (ns) a line
//     bus-roundtrip state ROUNDS  prints ns of one get_state and of one check
// The bus is that of INTEL_BUS.
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization

/// Posts, and posts again from the handler of each answer: what a program that reacts would do.
func ping(_ rounds: Int, on client: NotifyClient) throws {
    let times = Mutex<[UInt64]>([])
    let done = Mailbox<Bool>(capacity: 1)
    let own = try client.registerCheck("bench.ping")
    var batch = NotifyBatch()
    batch.post(own)
    let post = batch
    let started = Mutex<UInt64>(0)
    _ = try client.registerDirect("bench.pong") { _ in
        let now = Clock.system.boot()
        let count = times.withLock { times in
            times.append(now - started.withLock { $0 })
            return times.count
        }
        if count >= rounds {
            _ = done.trySend(true)
        } else {
            started.withLock { $0 = Clock.system.boot() }
            try? client.write(post)
        }
    }
    started.withLock { $0 = Clock.system.boot() }
    try client.write(post)
    _ = done.receive(nanoseconds: 60_000_000_000)
    for time in times.withLock({ $0 }) { print(time) }
}

func pong(_ client: NotifyClient) throws {
    let own = try client.registerCheck("bench.pong")
    var batch = NotifyBatch()
    batch.post(own)
    let answer = batch
    _ = try client.registerDirect("bench.ping") { _ in try? client.write(answer) }
    _ = try Signals([.terminate, .interrupt]).wait()
}

func state(_ rounds: Int, on client: NotifyClient) throws {
    let token = try client.registerCheck("bench.state")
    try client.setState(token, 1)
    for name in ["get_state", "check"] {
        var sum: UInt64 = 0
        let start = Clock.system.boot()
        for _ in 0..<rounds {
            if name == "check" {
                sum &+= try client.check(token) ? 1 : 0
            } else {
                sum &+= try client.state(token)
            }
        }
        let span = Double(Clock.system.boot() - start)
        precondition(sum > 0, "the register was read")
        print(name, span / Double(rounds))
    }
}

@main struct Roundtrip {
    static func main() throws {
        let arguments = CommandLine.arguments
        let client = try NotifyClient(
            path: Environment["INTEL_BUS"] ?? "",
            attachTimeout: 5_000_000_000
        )
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 1000 : 1000
        switch arguments.count > 1 ? arguments[1] : "" {
        case "pong": try pong(client)
        case "ping": try ping(rounds, on: client)
        case "state": try state(rounds, on: client)
        default: StandardError.line("usage: bus-roundtrip pong | ping ROUNDS | state ROUNDS")
        }
    }
}
