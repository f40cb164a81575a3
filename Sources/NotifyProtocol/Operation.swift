public import Basics

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
    /// The state that the claimer gives it at once.
    public var state: UInt64 = 0
    /// The state that the broker sets when the claimer's connection ends; it posts then as well.
    public var will: UInt64?
    /// How many seconds the claim outlives its connection.
    public var linger: UInt32 = 0
    /// Registers of a pool to be made; 0 for none.
    public var pool = 0

    /// A plain registration.
    public init(token: UInt32, name: String, delivers: Bool = false) {
        self.token = token
        self.name = name
        self.delivers = delivers
    }
}

/// One operation of a request.
public enum Operation: Equatable, Sendable {
    case register(Registration)
    case cancel(token: UInt32)
    case suspend(token: UInt32)
    case resume(token: UInt32)
    case set(token: UInt32, state: UInt64)
    case post(token: UInt32)
    case setAndPost(token: UInt32, state: UInt64)
    case postName(String)
    /// `words` lie in the frame at this range of bytes, eight each.
    case poolWrite(token: UInt32, offset: Int, words: Range<Int>)
    /// Names that begin and end so, after a name, in order.
    case list(prefix: String, suffix: String, after: String)
    case inspect(token: UInt32)
    case goodbye
    /// An operation of a newer client: answered with a status, not with a hang-up.
    case unknown(UInt16)

    /// Wire numbers.
    public enum Code: UInt16 {
        case register = 1
        case cancel, suspend, resume, set, post, setAndPost, postName, poolWrite, list, inspect,
            goodbye
    }

    /// Reads the next operation; the reader stands at the next one after.
    public init(from reader: inout ByteReader) throws(TruncatedBytes) {
        let start = reader.offset
        let code = try reader.u16()
        let flags = try reader.u16()
        let length = Int(try reader.u32())
        guard length >= 8, length % 8 == 0, length <= reader.remaining + 8 else {
            throw TruncatedBytes(offset: start)
        }
        let bodyStart = reader.offset
        var body = ByteReader(try reader.raw(length - 8))
        switch Code(rawValue: code) {
        case .register: self = .register(try Self.registration(&body, flags))
        case .cancel: self = .cancel(token: try body.u32())
        case .suspend: self = .suspend(token: try body.u32())
        case .resume: self = .resume(token: try body.u32())
        case .set: self = .set(token: try Self.token(&body), state: try body.u64())
        case .post: self = .post(token: try body.u32())
        case .setAndPost: self = .setAndPost(token: try Self.token(&body), state: try body.u64())
        case .postName: self = .postName(try Self.text(&body))
        case .poolWrite:
            let token = try body.u32()
            let offset = Int(try body.u32())
            let from = bodyStart + body.offset
            self = .poolWrite(token: token, offset: offset, words: from..<from + body.remaining)
        case .list:
            self = .list(
                prefix: try Self.text(&body),
                suffix: try Self.text(&body),
                after: try Self.text(&body)
            )
        case .inspect: self = .inspect(token: try body.u32())
        case .goodbye: self = .goodbye
        case nil: self = .unknown(code)
        }
    }

    /// Appends the operation; `.poolWrite` has a function of its own.
    public func append(to writer: inout ByteWriter) {
        switch self {
        case .register(let wanted): Self.append(wanted, to: &writer)
        case .cancel(let token): Self.append(.cancel, to: &writer) { $0.u32(token) }
        case .suspend(let token): Self.append(.suspend, to: &writer) { $0.u32(token) }
        case .resume(let token): Self.append(.resume, to: &writer) { $0.u32(token) }
        case .set(let token, let state): Self.append(.set, token, state, to: &writer)
        case .post(let token): Self.append(.post, to: &writer) { $0.u32(token) }
        case .setAndPost(let token, let state): Self.append(.setAndPost, token, state, to: &writer)
        case .postName(let name): Self.append(.postName, to: &writer) { Self.append(name, to: &$0) }
        case .list(let prefix, let suffix, let after):
            Self.append(.list, to: &writer) { writer in
                for text in [prefix, suffix, after] { Self.append(text, to: &writer) }
            }
        case .inspect(let token): Self.append(.inspect, to: &writer) { $0.u32(token) }
        case .goodbye: Self.append(.goodbye, to: &writer) { _ in }
        case .poolWrite, .unknown: break
        }
    }

    /// Appends a write of `words` to the pool of `token`, from register `offset` on.
    public static func appendPoolWrite(
        token: UInt32,
        offset: Int,
        words: [UInt64],
        to writer: inout ByteWriter
    ) {
        append(.poolWrite, to: &writer) { writer in
            writer.u32(token)
            writer.u32(UInt32(offset))
            words.withUnsafeBytes { writer.raw($0) }
        }
    }

    private static func append(
        _ code: Code,
        flags: UInt16 = 0,
        to writer: inout ByteWriter,
        _ body: (inout ByteWriter) -> Void
    ) {
        let start = writer.count
        writer.u16(code.rawValue)
        writer.u16(flags)
        writer.u32(0)
        body(&writer)
        writer.pad(to: 8)
        writer.patch(u32: UInt32(writer.count - start), at: start + 4)
    }

    private static func append(
        _ code: Code,
        _ token: UInt32,
        _ state: UInt64,
        to writer: inout ByteWriter
    ) {
        append(code, to: &writer) { writer in
            writer.u32(token)
            writer.u32(0)
            writer.u64(state)
        }
    }

    private static func append(_ wanted: Registration, to writer: inout ByteWriter) {
        var flags: UInt16 = 0
        if wanted.delivers { flags |= 1 }
        if wanted.claims { flags |= 2 }
        if wanted.will != nil { flags |= 4 }
        if wanted.reclaims { flags |= 8 }
        append(.register, flags: flags, to: &writer) { writer in
            writer.u32(wanted.token)
            writer.u32(wanted.linger)
            writer.u64(wanted.state)
            writer.u64(wanted.will ?? 0)
            writer.u32(UInt32(wanted.pool))
            append(wanted.name, to: &writer)
        }
    }

    private static func registration(_ body: inout ByteReader, _ flags: UInt16)
        throws(TruncatedBytes) -> Registration
    {
        var wanted = Registration(token: try body.u32(), name: "", delivers: flags & 1 != 0)
        wanted.linger = try body.u32()
        wanted.state = try body.u64()
        let will = try body.u64()
        wanted.will = flags & 4 != 0 ? will : nil
        wanted.pool = Int(try body.u32())
        wanted.claims = flags & 2 != 0
        wanted.reclaims = flags & 8 != 0
        wanted.name = try text(&body)
        return wanted
    }

    private static func token(_ body: inout ByteReader) throws(TruncatedBytes) -> UInt32 {
        let token = try body.u32()
        _ = try body.u32()
        return token
    }

    private static func append(_ text: String, to writer: inout ByteWriter) {
        writer.u16(UInt16(clamping: text.utf8.count))
        writer.text(text)
    }

    private static func text(_ body: inout ByteReader) throws(TruncatedBytes) -> String {
        try body.text(Int(try body.u16()))
    }
}
