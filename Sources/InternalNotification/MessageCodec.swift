public import Basics
public import Telemetry

/// A message of a transfer, as it lies in the unpacked JSON: numbers read, texts as ranges.
public struct WireMessage: Sendable {
    /// Number in the sender's instance.
    public var sequence: UInt64 = 0
    /// Sender's wall clock, ns.
    public var time: Int64 = 0
    /// Sender's CLOCK_BOOTTIME, ns.
    public var boot: UInt64 = 0
    /// Severity.
    public var level = Level.info
    /// What sort of message.
    public var kind = ""
    /// The sender's own id.
    public var id: String?
    /// Where the payload's text lies.
    public var payload: Range<Int> = 0..<0

    /// A message without a number yet.
    public init() {}
}

/// An element of a transfer: a message, or the news that some were dropped.
public enum WireElement: Sendable {
    case message(WireMessage)
    case dropped(ClosedRange<UInt64>, reason: String)
}

/// The JSON of transfers: `[{"seq":1,"time":…,"boot":…,"kind":"…","level":"info","payload":…},…]`.
public enum MessageCodec {
    /// Appends one message as a JSON object.
    public static func append(_ message: INMessage, boot: UInt64, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        if let id = message.id {
            out.append(contentsOf: #""id":"#.utf8)
            JSONText.appendString(id, to: &out)
            out.append(UInt8(ascii: ","))
        }
        out.append(contentsOf: #""seq":"#.utf8)
        out.appendDecimal(message.sequence)
        out.append(contentsOf: #","time":"#.utf8)
        out.appendDecimal(message.time)
        out.append(contentsOf: #","boot":"#.utf8)
        out.appendDecimal(boot)
        out.append(contentsOf: #","kind":"#.utf8)
        JSONText.appendString(message.kind, to: &out)
        out.append(contentsOf: #","level":""#.utf8)
        out.append(contentsOf: message.level.name.utf8)
        out.append(contentsOf: #"","payload":"#.utf8)
        out.append(contentsOf: message.payloadText)
        out.append(UInt8(ascii: "}"))
    }

    /// Reads a transfer and hands out its elements in order.
    ///
    /// - Throws: where the text is not such an array; elements before that were handed out.
    public static func forEach(
        _ json: UnsafeRawBufferPointer,
        _ body: (WireElement) -> Void
    ) throws(JSONFault) {
        var scanner = JSONScanner(json)
        try scanner.expect(UInt8(ascii: "["))
        if scanner.take(UInt8(ascii: "]")) { return }
        repeat { body(try element(&scanner)) } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "]"))
    }

    private static func element(_ scanner: inout JSONScanner) throws(JSONFault) -> WireElement {
        var message = WireMessage()
        var dropped: ClosedRange<UInt64>?
        var reason = "dropped by the sender"
        let start = scanner.offset
        try scanner.expect(UInt8(ascii: "{"))
        repeat {
            let key = try scanner.string()
            try scanner.expect(UInt8(ascii: ":"))
            switch Key(scanner.bytes, key) {
            case .sequence: message.sequence = try unsigned(&scanner)
            case .time: message.time = Int64(clamping: try signed(&scanner))
            case .boot: message.boot = try unsigned(&scanner)
            case .level: message.level = Level(name: try text(&scanner)) ?? .info
            case .kind: message.kind = try text(&scanner)
            case .id: message.id = try text(&scanner)
            case .payload: message.payload = try scanner.value()
            case .dropped: dropped = try range(&scanner)
            case .reason: reason = try text(&scanner)
            case .other: _ = try scanner.value()
            }
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
        if let dropped { return .dropped(dropped, reason: reason) }
        guard (1...Limits.sequenceMax).contains(message.sequence), !message.payload.isEmpty,
            (1...Limits.nameBytesMax).contains(message.kind.utf8.count)
        else { throw JSONFault(.unexpectedByte, at: start) }
        return .message(message)
    }

    private enum Key {
        case sequence, time, boot, level, kind, id, payload, dropped, reason, other

        init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
            switch UnsafeRawBufferPointer(rebasing: bytes[range]) {
            case let text where text.elementsEqual("seq".utf8): self = .sequence
            case let text where text.elementsEqual("time".utf8): self = .time
            case let text where text.elementsEqual("boot".utf8): self = .boot
            case let text where text.elementsEqual("kind".utf8): self = .kind
            case let text where text.elementsEqual("level".utf8): self = .level
            case let text where text.elementsEqual("payload".utf8): self = .payload
            case let text where text.elementsEqual("id".utf8): self = .id
            case let text where text.elementsEqual("dropped".utf8): self = .dropped
            case let text where text.elementsEqual("reason".utf8): self = .reason
            default: self = .other
            }
        }
    }

    private static func unsigned(_ scanner: inout JSONScanner) throws(JSONFault) -> UInt64 {
        let range = try scanner.value()
        var value: UInt64 = 0
        for index in range {
            let digit = scanner.bytes[index] &- 0x30
            let (product, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, above) = product.addingReportingOverflow(UInt64(digit))
            if digit > 9 || over || above { throw JSONFault(.invalidNumber, at: index) }
            value = sum
        }
        return value
    }

    private static func signed(_ scanner: inout JSONScanner) throws(JSONFault) -> Int64 {
        guard scanner.peek() == UInt8(ascii: "-") else {
            return Int64(clamping: try unsigned(&scanner))
        }
        scanner.offset += 1
        return -Int64(clamping: try unsigned(&scanner))
    }

    private static func text(_ scanner: inout JSONScanner) throws(JSONFault) -> String {
        let range = try scanner.string()
        return JSONText.unescaped(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
    }

    private static func range(_ scanner: inout JSONScanner) throws(JSONFault) -> ClosedRange<UInt64>
    {
        try scanner.expect(UInt8(ascii: "["))
        let low = try unsigned(&scanner)
        try scanner.expect(UInt8(ascii: ","))
        let high = try unsigned(&scanner)
        try scanner.expect(UInt8(ascii: "]"))
        guard low >= 1, low <= high, high <= Limits.sequenceMax else {
            throw JSONFault(.invalidNumber, at: scanner.offset)
        }
        return low...high
    }
}
