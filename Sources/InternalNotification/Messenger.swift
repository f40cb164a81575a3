internal import Dispatch
internal import LinuxIO
internal import Synchronization
internal import Telemetry

/// Sends and receives messages on a center's channel.
///
/// Safe to use from any thread.
public final class Messenger: Sendable {
    let core: SenderCore
    private let receiver: ChannelReceiver

    init(core: SenderCore, receiver: ChannelReceiver) {
        self.core = core
        self.receiver = receiver
    }

    /// Calls `handler` with each batch of messages from siblings (never this program's own).
    public func onReceive(_ handler: @escaping @Sendable ([INMessage]) -> Void) {
        receiver.onReceive(handler)
    }

    /// Sends messages: queues them and returns.
    ///
    /// Never blocks and never throws; what cannot be sent is counted in `statistics`.
    public func send(_ messages: [INMessage]) {
        for message in messages { _ = try? core.enqueue(message) }
    }

    /// Sends messages and returns when a collector has **stored** them.
    ///
    /// - Parameter timeout: ns to wait for that.
    /// - Throws: the first reason why one of them is not stored; the others may be.
    public func deliver(_ messages: [INMessage], timeout: UInt64 = 30_000_000_000)
        async throws(INError)
    {
        var sequences: ClosedRange<UInt64>?
        for message in messages {
            let sequence = try core.enqueue(message)
            sequences = (sequences?.lowerBound ?? sequence)...sequence
        }
        guard let sequences else { return }
        let failure = await withCheckedContinuation { continuation in
            core.wait(for: sequences, timeout: timeout) { continuation.resume(returning: $0) }
        }
        if let failure { throw failure }
    }

    /// Sends one message; where the queue is half full it waits until half of it is stored: for
    /// programs that would rather wait than lose.
    ///
    /// - Parameter timeout: ns to wait for that.
    /// - Returns: the message's sequence number.
    /// - Throws: why it was refused, or `timedOut`: it is queued then, but the queue does not move.
    public func sendWaiting(_ message: INMessage, timeout: UInt64) throws(INError) -> UInt64 {
        let sequence = try core.enqueue(message)
        let middle: UInt64? = core.state.withLock { state in
            guard state.outbox.isHalfFull else { return nil }
            return state.outbox.first + UInt64(state.outbox.count / 2)
        }
        if let middle, let reason = wait(for: middle, timeout: timeout) { throw reason }
        return sequence
    }

    /// Blocks until everything up to `sequence` is stored.
    ///
    /// - Returns: nil when it is stored, else the reason why one that waited is not.
    public func wait(for sequence: UInt64, timeout: UInt64) -> INError? {
        let done = DispatchSemaphore(value: 0)
        let answer = Answer()
        let first = core.state.withLock { min($0.outbox.first, sequence) }
        core.wait(for: first...sequence, timeout: timeout) { reason in
            answer.reason.withLock { $0 = reason }
            done.signal()
        }
        done.wait()
        return answer.reason.withLock { $0 }
    }

    /// What was sent so far.
    public var statistics: INStatistics {
        core.state.withLock { state in
            INStatistics(
                sent: state.outbox.last,
                stored: state.outbox.storedCount,
                dropped: state.outbox.droppedCount,
                refused: state.refused,
                waiting: state.outbox.count,
                unsent: state.outbox.unreadable,
                isAttached: state.isAttached,
                hasCollector: state.hasCollector,
                overflowed: receiver.overflowed
            )
        }
    }

    private final class Answer: Sendable {
        let reason = Mutex<INError?>(nil)
    }
}
