internal import Basics

/// A registration as it is asked for.
public struct Registration: Equatable, Sendable {
    /// Chosen by the client, unique in its connection.
    public var token: UInt32
    /// The name.
    public var name: String
    /// Posts are delivered as events; false for registrations that only check.
    public var delivers = false
    /// The name is to belong to this connection.
    public var claims = false
    /// The claimer had it before its connection broke, and takes it back even while it lingers.
    public var reclaims = false
    /// Somebody had claimed the name when this client last saw it.
    ///
    /// Where the broker has forgotten that (it started again), the name's cause is `unknown` until
    /// the claimer is back.
    public var wasClaimed = false
    /// The state that the claimer gives it at once; of a plain registration: see `stateTime`.
    public var state: UInt64 = 0
    /// CLOCK_BOOTTIME, ns, at which this client set `state`; 0 if it did not.
    ///
    /// A plain registration that comes back after a restart says so, and the newest one counts.
    public var stateTime: UInt64 = 0
    /// The state that the broker sets when the claimer's connection ends; it posts then as well.
    public var will: UInt64?
    /// How many seconds the claim outlives its connection.
    public var linger: UInt32 = 0
    /// Milliseconds without a write or a renewal after which the claim ends; 0 for none.
    public var deadline: UInt32 = 0
    /// Registers of a pool to be made; 0 for none.
    public var pool = 0
    /// The user whom the name is for, where a member of the rule's group comes back before that
    /// user does; 0 for the client's own.
    public var owner: UInt32 = 0

    /// A plain registration.
    public init(token: UInt32, name: String, delivers: Bool = false) {
        self.token = token
        self.name = name
        self.delivers = delivers
    }

    private enum Flag {
        static let delivers: UInt16 = 1
        static let claims: UInt16 = 2
        static let hasWill: UInt16 = 4
        static let reclaims: UInt16 = 8
        static let wasClaimed: UInt16 = 16
    }

    var flags: UInt16 {
        var flags: UInt16 = 0
        if delivers { flags |= Flag.delivers }
        if claims { flags |= Flag.claims }
        if will != nil { flags |= Flag.hasWill }
        if reclaims { flags |= Flag.reclaims }
        if wasClaimed { flags |= Flag.wasClaimed }
        return flags
    }

    func append(to writer: inout ByteWriter) {
        writer.u32(token)
        writer.u32(linger)
        writer.u64(state)
        writer.u64(stateTime)
        writer.u64(will ?? 0)
        writer.u32(UInt32(exactly: pool) ?? .max)
        writer.u32(deadline)
        writer.u32(owner)
        WireText.append(name, to: &writer)
    }

    init(from body: inout ByteReader, flags: UInt16) throws(TruncatedBytes) {
        token = try body.u32()
        delivers = flags & Flag.delivers != 0
        claims = flags & Flag.claims != 0
        reclaims = flags & Flag.reclaims != 0
        wasClaimed = flags & Flag.wasClaimed != 0
        linger = try body.u32()
        state = try body.u64()
        stateTime = try body.u64()
        let last = try body.u64()
        will = flags & Flag.hasWill != 0 ? last : nil
        pool = Int(try body.u32())
        deadline = try body.u32()
        owner = try body.u32()
        name = try WireText.read(&body)
    }
}

/// A text on the wire: `u16` length and UTF-8 bytes; other bytes are an error, so that two names
/// never become one by repair.
enum WireText {
    static func append(_ text: String, to writer: inout ByteWriter) {
        writer.u16(UInt16(clamping: text.utf8.count))
        writer.text(text)
    }

    static func read(_ body: inout ByteReader) throws(TruncatedBytes) -> String {
        let start = body.offset
        let bytes = try body.raw(Int(try body.u16()))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw TruncatedBytes(offset: start)
        }
        return text
    }
}
