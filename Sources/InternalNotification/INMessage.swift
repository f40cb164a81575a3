public import Basics
internal import FoundationEssentials
public import Telemetry

/// One message: a kind, a severity level, and a JSON payload whose text stays as it is.
public struct INMessage: Sendable, Equatable {
    /// The sender's own id for it, at most 255 bytes; nil where it gave none.
    ///
    /// Siblings get it. The spool has its own for every record: peer, epoch and sequence number.
    public var id: String?
    /// What sort of message: `order.created`.
    public var kind: String
    /// Severity.
    public var level: Level
    /// The payload's JSON text; what is no JSON is refused when it is sent.
    public var payloadText: [UInt8]
    /// Its number in the sender's instance; 0 until it is sent.
    public internal(set) var sequence: UInt64 = 0
    /// The sender's wall clock, ns since 1970; 0 until it is sent.
    public internal(set) var time: Int64 = 0
    /// Who sent it, for messages that were received.
    public internal(set) var sender: PeerInstance?
    /// Why the payload could not become JSON; such a message is refused by `deliver` and counted
    /// by `send`.
    public internal(set) var fault: INError?

    /// A message with a literal or computed payload: `["id": "ord_42", "total": 49.90]`.
    public init(kind: String, payload: INValue, level: Level = .info, id: String? = nil) {
        self.init(kind: kind, text: [], level: level, id: id)
        do throws(INError) {
            try payload.append(to: &payloadText, path: "payload")
        } catch {
            fault = error
        }
    }

    /// A message with any `Encodable` payload.
    public init(kind: String, encoding payload: some Encodable, level: Level = .info) {
        self.init(kind: kind, text: [], level: level, id: nil)
        do {
            payloadText = Array(try JSONEncoder().encode(payload))
        } catch EncodingError.invalidValue(_, let context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            fault = .unencodable(key: path, why: context.debugDescription)
        } catch {
            fault = .unencodable(key: "payload", why: "\(error)")
        }
    }

    /// A message whose payload is JSON text already, kept byte for byte.
    ///
    /// - Throws: where `text` is not valid JSON (RFC 8259, at most 512 levels deep).
    public init(kind: String, json text: [UInt8], level: Level = .info) throws(JSONFault) {
        let check = text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try JSONScanner.validate(bytes) }
        }
        let range = try check.get()
        self.init(kind: kind, text: Array(text[range]), level: level, id: nil)
    }

    init(kind: String, text: [UInt8], level: Level, id: String?) {
        self.id = id
        self.kind = kind
        self.level = level
        payloadText = text
    }

    /// The payload as a value; integers of 64 bits and other numbers keep their digits.
    public var payload: INValue {
        payloadText.withUnsafeBytes { INValue(json: $0) }
    }

    /// The payload as a type of one's own.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try JSONDecoder().decode(type, from: Data(payloadText))
    }
}

/// Why a message was not sent or not stored.
public enum INError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A value that JSON does not have, such as NaN, under this key.
    case unencodable(key: String, why: String)
    /// The program's identifier or key is empty, too long, or holds a `|`.
    case invalidIdentity(String)
    /// The kind is empty or longer than `Limits.nameBytesMax`.
    case invalidKind(String)
    /// The message is too large: bytes and the limit.
    case tooLarge(bytes: Int, limit: Int)
    /// No collector has stored it in time.
    case timedOut
    /// The center was stopped.
    case stopped
    /// It was dropped: the queue was full, or it does not fit the ring.
    case dropped

    /// One line, lower case.
    public var description: String {
        switch self {
        case .unencodable(let key, let why): "encode '\(key)': \(why)"
        case .invalidIdentity(let name):
            "announce '\(name.prefix(64))': not 1 to 255 bytes without '|', or the key too long"
        case .invalidKind(let kind): "send kind '\(kind.prefix(64))': not 1 to 255 bytes"
        case .tooLarge(let bytes, let limit): "send message: \(bytes) bytes, the limit is \(limit)"
        case .timedOut: "deliver: no collector has stored the messages in time"
        case .stopped: "deliver: the center was stopped"
        case .dropped: "deliver: a message was dropped: queue full, or larger than the ring"
        }
    }
}
