internal import LinuxIO

/// A connection's socket, what could not be sent to it yet, and where it stands in line.
final class Client {
    let socket: PacketSocket
    let uid: UInt32
    let line: TurnQueue.Line
    /// Frames that wait for room; while they do, nothing more is read from this client.
    var outgoing: [BrokerState.Outgoing] = []
    var isBlocked = false
    /// What the kernel wakes the broker for.
    var watched: Poller.Readiness = .readable
    /// It hears nothing any more, being gone or as good as that; what it has said is done to its
    /// end.
    var isDeaf = false
    /// It has said all that it will; what is unfinished is still done.
    var hasEnded = false
    /// It waits for its next turn.
    var isInLine = false
    /// Turns in line that are not long work yet: whoever has just come registers what it needs.
    ///
    /// After a restart thousands do, and none may wait so long that it gives up and begins again.
    var credit: Int32 = 16
    /// It waits for its events.
    var isInOutbox = false
    /// Frames that one call receives: fewer from whoever sends large ones.
    var framesPerCall = Broker.framesPerCall
    /// Frames that are likely to have come, and the round in which it had its last turn.
    private var framesLikely = 1
    private var lastRound: UInt64 = 0

    /// How many frames the next call asks for.
    ///
    /// To ask for more than there are is a look in vain: of whoever spoke once, one is asked for,
    /// and of whoever speaks round after round more and more.
    var framesNext: Int { min(framesPerCall, framesLikely) }

    func noteTurn(in round: UInt64) {
        let goesOn = lastRound &+ 1 >= round
        framesLikely = goesOn ? min(Broker.framesPerCall, framesLikely * 2) : 1
        lastRound = round
    }

    init(_ socket: consuming PacketSocket, _ uid: UInt32, _ line: TurnQueue.Line) {
        self.socket = socket
        self.uid = uid
        self.line = line
    }
}

/// Clients that wait for their events, each once, oldest first.
struct Outbox {
    private var waiting: [UInt64] = []
    private var first = 0

    var isEmpty: Bool { first == waiting.count }

    mutating func add(_ number: UInt64) { waiting.append(number) }

    mutating func next() -> UInt64? {
        guard first < waiting.count else { return nil }
        defer {
            first += 1
            if first == waiting.count || first > 1024 {
                waiting.removeFirst(first)
                first = 0
            }
        }
        return waiting[first]
    }
}
