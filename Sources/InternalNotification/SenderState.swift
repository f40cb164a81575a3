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
    /// Which connection acknowledges; 0 before its first word.
    var collectorConnection: UInt64 = 0
    /// The collector's word on a peer that it has just met: how far it has stored, and who says so.
    var resume: (stored: UInt64, connection: UInt64)?
    /// Last transfer that the collector has copied.
    var taken: UInt64 = 0
    /// Somebody waits for "stored".
    var waiters: [Waiter] = []
    var mustReestablish = false
    var isAttached = false
    var hasCollector = false
    var isStopping = false
    var stopDeadline: UInt64 = 0
    var isFinished = false

    struct Waiter {
        var sequence: UInt64
        var deadline: UInt64
        var finish: @Sendable (INError?) -> Void
    }

    /// Waiters that have an answer: stored, given up, out of time, or stopped.
    mutating func answered(now: UInt64) -> [(Waiter, INError?)] {
        var done: [(Waiter, INError?)] = []
        waiters.removeAll { waiter in
            if waiter.sequence <= outbox.stored {
                done.append((waiter, nil))
            } else if waiter.sequence < outbox.first {
                done.append((waiter, .dropped))
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
    mutating func note(stored: UInt64, connection: UInt64) {
        if connection != collectorConnection {
            resume = (stored, connection)
        } else {
            outbox.acknowledge(stored)
        }
    }
}
