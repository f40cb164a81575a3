internal import Dispatch
internal import Synchronization

/// A bounded queue between threads: many senders, one receiver.
///
/// Batches travel in it, not records.
public final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    /// How many messages it holds at the most.
    public let capacity: Int

    /// An open, empty mailbox.
    public init(capacity: Int) {
        self.capacity = capacity
    }

    /// Messages that wait.
    public var count: Int { state.withLock { $0.messages.count } }

    /// Puts a message in; false if the box is full or closed.
    ///
    /// Never blocks.
    public func trySend(_ message: consuming sending Message) -> Bool {
        let accepted = state.withLock { [message] state in
            guard !state.isClosed, state.messages.count < capacity else { return false }
            state.messages.append(message)
            return true
        }
        if accepted { arrived.signal() }
        return accepted
    }

    /// Takes the oldest message, waiting for one up to `nanoseconds` (nil: for ever).
    ///
    /// - Returns: nil if the time is over, or the box is closed and empty.
    public func receive(nanoseconds: UInt64? = nil) -> Message? {
        let deadline: DispatchTime =
            nanoseconds.map { .now() + .nanoseconds(Int(clamping: $0)) } ?? .distantFuture
        guard arrived.wait(timeout: deadline) == .success else { return nil }
        let (message, isDone) = state.withLock { state in
            state.messages.isEmpty ? (nil, state.isClosed) : (state.messages.removeFirst(), false)
        }
        // The closing ring is passed on, so that nobody ever waits at a closed, empty box.
        if isDone { arrived.signal() }
        return message
    }

    /// True once closed; what is in the box can still be taken.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Takes no more messages and wakes the receiver.
    ///
    /// What is in the box can still be taken.
    public func close() {
        state.withLock { $0.isClosed = true }
        arrived.signal()
    }
}
