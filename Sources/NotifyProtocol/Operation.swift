public import Basics

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
    /// Sets the state if nobody has since its number was `number`, and posts it if `posts`.
    case compareAndSet(token: UInt32, number: UInt64, state: UInt64, posts: Bool)
    /// Puts a claim's deadline off, as a write of the claimer does.
    case renew(token: UInt32)
    /// As `list`, with what the broker knows beside.
    case who(prefix: String, suffix: String, after: String)
    /// The connections with numbers above this one, in order.
    case connections(after: UInt64)
    /// An operation of a newer client: answered with a status, not with a hang-up.
    case unknown(UInt16)

    /// Wire numbers.
    public enum Code: UInt16, Sendable {
        case register = 1
        case cancel, suspend, resume, set, post, setAndPost, postName, poolWrite, list, inspect
        case goodbye, compareAndSet, renew, who, connections
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
        case .register: self = .register(try Registration(from: &body, flags: flags))
        case .cancel: self = .cancel(token: try body.u32())
        case .suspend: self = .suspend(token: try body.u32())
        case .resume: self = .resume(token: try body.u32())
        case .set: self = .set(token: try Self.token(&body), state: try body.u64())
        case .post: self = .post(token: try body.u32())
        case .setAndPost: self = .setAndPost(token: try Self.token(&body), state: try body.u64())
        case .postName: self = .postName(try WireText.read(&body))
        case .poolWrite:
            let token = try body.u32()
            let offset = Int(try body.u32())
            let from = bodyStart + body.offset
            self = .poolWrite(token: token, offset: offset, words: from..<from + body.remaining)
        case .list:
            let (prefix, suffix, after) = try Self.page(&body)
            self = .list(prefix: prefix, suffix: suffix, after: after)
        case .who:
            let (prefix, suffix, after) = try Self.page(&body)
            self = .who(prefix: prefix, suffix: suffix, after: after)
        case .inspect: self = .inspect(token: try body.u32())
        case .goodbye: self = .goodbye
        case .compareAndSet: self = try Self.compareAndSet(&body, flags)
        case .renew: self = .renew(token: try body.u32())
        case .connections: self = .connections(after: try body.u64())
        case nil: self = .unknown(code)
        }
    }

    /// Appends the operation; `.poolWrite` has a function of its own.
    public func append(to writer: inout ByteWriter) {
        switch self {
        case .register(let wanted):
            Self.append(.register, flags: wanted.flags, to: &writer) { wanted.append(to: &$0) }
        case .cancel(let token): Self.append(.cancel, to: &writer) { $0.u32(token) }
        case .suspend(let token): Self.append(.suspend, to: &writer) { $0.u32(token) }
        case .resume(let token): Self.append(.resume, to: &writer) { $0.u32(token) }
        case .set(let token, let state): Self.append(.set, token, state, to: &writer)
        case .post(let token): Self.append(.post, to: &writer) { $0.u32(token) }
        case .setAndPost(let token, let state): Self.append(.setAndPost, token, state, to: &writer)
        case .postName(let name):
            Self.append(.postName, to: &writer) { WireText.append(name, to: &$0) }
        case .list(let prefix, let suffix, let after):
            Self.append(.list, [prefix, suffix, after], to: &writer)
        case .who(let prefix, let suffix, let after):
            Self.append(.who, [prefix, suffix, after], to: &writer)
        case .inspect(let token): Self.append(.inspect, to: &writer) { $0.u32(token) }
        case .goodbye: Self.append(.goodbye, to: &writer) { _ in }
        case .compareAndSet(let token, let number, let state, let posts):
            Self.append(.compareAndSet, flags: posts ? 1 : 0, to: &writer) { writer in
                writer.u32(token)
                writer.u32(0)
                writer.u64(number)
                writer.u64(state)
            }
        case .renew(let token): Self.append(.renew, to: &writer) { $0.u32(token) }
        case .connections(let after): Self.append(.connections, to: &writer) { $0.u64(after) }
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
            writer.u32(UInt32(exactly: offset) ?? .max)
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

    private static func append(_ code: Code, _ texts: [String], to writer: inout ByteWriter) {
        append(code, to: &writer) { writer in
            for text in texts { WireText.append(text, to: &writer) }
        }
    }

    private static func token(_ body: inout ByteReader) throws(TruncatedBytes) -> UInt32 {
        let token = try body.u32()
        _ = try body.u32()
        return token
    }

    private static func page(_ body: inout ByteReader) throws(TruncatedBytes) -> (
        prefix: String, suffix: String, after: String
    ) {
        (try WireText.read(&body), try WireText.read(&body), try WireText.read(&body))
    }

    private static func compareAndSet(_ body: inout ByteReader, _ flags: UInt16)
        throws(TruncatedBytes) -> Operation
    {
        .compareAndSet(
            token: try token(&body),
            number: try body.u64(),
            state: try body.u64(),
            posts: flags & 1 != 0
        )
    }
}
