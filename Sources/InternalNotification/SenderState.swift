internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Telemetry

/// What the threads of a center share, behind one lock.
///
/// No call that blocks is made under it.
struct SenderState {
    var outbox = Outbox()
    var refused: UInt64 = 0
    /// State of the collector register: which session, 0 for none.
    var collectorSession: UInt64 = 0
    /// The connection that owns the collector register: nobody else's acknowledgements count.
    var collectorOwner: UInt64 = 0
    /// How often the collector was heard of.
    var collectorNews: UInt64 = 0
    /// Which connection has acknowledged; 0 before its first word.
    var collectorConnection: UInt64 = 0
    /// The collector's word on a peer that it has just met: how far it has stored, and who says so.
    var resume: (stored: UInt64, connection: UInt64)?
    /// Somebody waits for "stored".
    var waiters: [Waiter] = []
    /// The bus, once it was found.
    var client: NotifyClient?
    var hasCollector = false
    var isStopping = false
    var stopDeadline: UInt64 = 0
    var isFinished = false
    /// What `isAttached` was when it was finished.
    var wasAttached = false

    struct Waiter {
        var sequences: ClosedRange<UInt64>
        var deadline: UInt64
        var isDropped = false
        var finish: @Sendable (INError?) -> Void
    }

    /// True while the bus is there, or was there to the end.
    var isAttached: Bool { isFinished ? wasAttached : client?.isAttached ?? false }

    /// What the bus says of the collector's register when it is asked.
    mutating func noteCollector(_ info: NameInfo) {
        collectorSession = info.connection == 0 ? 0 : info.state
        collectorOwner = info.connection
    }

    /// What it says when something happens to it.
    mutating func noteCollector(_ event: NotifyEvent) {
        collectorNews += 1
        collectorSession = event.cause == .post ? event.state : 0
        collectorOwner = event.connection
    }

    /// Queues a message; whoever waits for those that had to go for it will be told.
    mutating func append(_ message: [UInt8]) {
        if let gone = outbox.append(message) { noteDropped(gone) }
    }

    /// The message cannot be sent.
    mutating func giveUp(_ sequence: UInt64) {
        outbox.giveUp(sequence)
        noteDropped(sequence...sequence)
    }

    private mutating func noteDropped(_ gone: ClosedRange<UInt64>) {
        for index in waiters.indices where waiters[index].sequences.overlaps(gone) {
            waiters[index].isDropped = true
        }
    }

    /// Waiters that have an answer: stored, given up, out of time, or stopped.
    mutating func answered(now: UInt64) -> [(Waiter, INError?)] {
        var done: [(Waiter, INError?)] = []
        waiters.removeAll { waiter in
            let last = waiter.sequences.upperBound
            if last <= outbox.stored || last < outbox.first {
                done.append((waiter, waiter.isDropped ? .dropped : nil))
            } else if isFinished {
                done.append((waiter, .stopped))
            } else if waiter.deadline <= now {
                done.append((waiter, .timedOut))
            } else {
                return false
            }
            return true
        }
        return done
    }

    /// A collector has committed up to `stored`; a new connection of it is a new session.
    mutating func note(stored said: UInt64, connection: UInt64) {
        guard connection == collectorOwner else { return }
        let stored = min(said, outbox.last)
        if connection != collectorConnection {
            resume = (stored, connection)
        } else {
            outbox.acknowledge(stored)
        }
    }
}
