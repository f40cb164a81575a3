internal import Basics
internal import NotifyProtocol

/// A registration's number in this process: positive, not used again soon.
public typealias NotifyToken = Int32

/// Several writes and posts that the broker applies in order, in one frame.
public struct NotifyBatch: Sendable {
    var writer = ByteWriter(capacity: 256)
    private(set) var count = 0
    /// States that were set, so that a claimer can say them again after a restart of the broker.
    private(set) var states: [(token: NotifyToken, state: UInt64)] = []

    /// An empty batch.
    public init() {}

    /// Bytes of its operations; a frame takes about 64 KiB.
    public var byteCount: Int { writer.count }

    /// Sets the state of a token's name.
    public mutating func set(_ token: NotifyToken, _ state: UInt64) {
        append(.set(token: UInt32(bitPattern: token), state: state))
        states.append((token, state))
    }

    /// Posts a token's name.
    public mutating func post(_ token: NotifyToken) {
        append(.post(token: UInt32(bitPattern: token)))
    }

    /// Sets the state and posts, as one.
    public mutating func setAndPost(_ token: NotifyToken, _ state: UInt64) {
        append(.setAndPost(token: UInt32(bitPattern: token), state: state))
        states.append((token, state))
    }

    /// Puts the deadline of a token's claim off.
    public mutating func renew(_ token: NotifyToken) {
        append(.renew(token: UInt32(bitPattern: token)))
    }

    /// Writes registers of a pool, from register `offset` on.
    public mutating func poolWrite(_ token: NotifyToken, at offset: Int, words: [UInt64]) {
        Operation.appendPoolWrite(
            token: UInt32(bitPattern: token),
            offset: offset,
            words: words,
            to: &writer
        )
        count += 1
    }

    mutating func append(_ operation: Operation) {
        operation.append(to: &writer)
        count += 1
    }
}

/// How a name is claimed.
public struct ClaimOptions: Sendable, Equatable {
    /// The state that it gets at once.
    public var state: UInt64
    /// The state that the broker sets, and posts, when the claimer's connection ends.
    public var will: UInt64?
    /// Seconds that the claim outlives its connection; the broker cuts it at 300.
    public var linger: UInt32
    /// Milliseconds without a write or `renew` after which the claim ends; 0 for none.
    ///
    /// The will is done then. The broker takes 10 ms to one day.
    public var deadline: UInt32

    /// Options.
    public init(
        state: UInt64 = 0,
        will: UInt64? = nil,
        linger: UInt32 = 0,
        deadline: UInt32 = 0
    ) {
        self.state = state
        self.will = will
        self.linger = linger
        self.deadline = deadline
    }
}
