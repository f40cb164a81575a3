// Round trips over the bus, between two processes, for `make bench`:
//     bus-roundtrip pong          answers until it is ended
//     bus-roundtrip ping ROUNDS   prints one round trip (ns) a line
//     bus-roundtrip state ROUNDS  prints ns of one get_state and of one check
// The bus is that of INTEL_BUS.
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization

/// One side of a round trip: posts quietly, and sleeps until the other side has posted.
func play(_ rounds: Int, on client: NotifyClient, mine: String, theirs: String) throws {
    let bell = Mailbox<Bool>(capacity: 4)
    let own = try client.registerCheck(mine)
    _ = try client.registerDirect(theirs) { _ in _ = bell.trySend(true) }
    var batch = NotifyBatch()
    batch.post(own)
    for _ in 0..<rounds {
        let start = Clock.system.boot()
        try client.write(batch)
        // An answerer that is not there yet has missed the first post.
        while bell.receive(nanoseconds: 1_000_000_000) == nil { try client.write(batch) }
        print(Clock.system.boot() - start)
    }
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

let arguments = CommandLine.arguments
let client = try NotifyClient(path: Environment["INTEL_BUS"] ?? "", attachTimeout: 5_000_000_000)
let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 1000 : 1000
switch arguments.count > 1 ? arguments[1] : "" {
case "pong": try pong(client)
case "ping": try play(rounds, on: client, mine: "bench.ping", theirs: "bench.pong")
case "state": try state(rounds, on: client)
default: StandardError.line("usage: bus-roundtrip pong | ping ROUNDS | state ROUNDS")
}
