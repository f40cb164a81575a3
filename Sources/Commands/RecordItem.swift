internal import Basics
internal import Spool
internal import Telemetry

/// A record on its way out.
///
/// The payload is borrowed: valid only while it is being rendered.
struct RecordItem {
    let instance: PeerInstance
    let pid: Int32
    let uid: UInt32
    let kind: String
    let envelope: Envelope
    let store: UInt64
    let payload: UnsafeRawBufferPointer
}

/// How a record is written.
enum RecordFormat: String {
    /// One line to read.
    case short
    /// One JSON object a line.
    case json
    /// The message or the payload alone.
    case cat
}

/// Writes records in one format.
struct RecordRenderer {
    private let format: RecordFormat
    /// True where `cat` has to escape: a terminal reads it.
    private let isTerminal: Bool
    private var times: TimePrinter

    init(_ format: RecordFormat, zone: Zone, isTerminal: Bool) {
        self.format = format
        self.isTerminal = isTerminal
        times = TimePrinter(zone: zone)
    }

    /// Appends `record` and the end of its line.
    mutating func append(_ record: RecordItem, to out: inout [UInt8]) {
        switch format {
        case .short: appendShort(record, to: &out)
        case .json: RecordJSON.append(record, to: &out)
        case .cat: appendCat(record, to: &out)
        }
        out.append(0x0a)
    }

    /// `2026-11-30 03:20:00.123456 peer[pid] kind level: message`: one line whatever is in it.
    private mutating func appendShort(_ record: RecordItem, to out: inout [UInt8]) {
        times.append(record.envelope.time, to: &out)
        out.append(0x20)
        TerminalText.append(record.instance.identifier, to: &out)
        out.append(UInt8(ascii: "["))
        out.appendDecimal(Int64(record.pid))
        out.append(contentsOf: "] ".utf8)
        TerminalText.append(record.kind, to: &out)
        out.append(0x20)
        out.append(contentsOf: record.envelope.level.name.utf8)
        out.append(contentsOf: ": ".utf8)
        appendText(record.payload, to: &out)
    }

    private func appendCat(_ record: RecordItem, to out: inout [UInt8]) {
        if isTerminal { return appendText(record.payload, to: &out) }
        if let message = Message.find(in: record.payload) {
            JSONText.appendUnescaped(message, to: &out)
        } else {
            out.append(contentsOf: record.payload)
        }
    }

    /// The message, or else the payload, escaped.
    private func appendText(_ payload: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        if let message = Message.find(in: payload) {
            if !message.contains(UInt8(ascii: "\\")) {
                return TerminalText.append(message, to: &out)
            }
            var text: [UInt8] = []
            JSONText.appendUnescaped(message, to: &text)
            return text.withUnsafeBytes { TerminalText.append($0, to: &out) }
        }
        if payload.contains(where: { $0 < 0x20 }) {
            // Raw controls in JSON are white space between values: a blank is as good.
            let flat = payload.map { $0 == 0x0a || $0 == 0x0d || $0 == 0x09 ? 0x20 : $0 }
            return flat.withUnsafeBytes { TerminalText.append($0, to: &out) }
        }
        TerminalText.append(payload, to: &out)
    }
}

extension RecordItem {
    /// What the spool hands out; valid only during the call in which it does.
    init(_ view: borrowing RecordView) {
        instance = view.instance
        pid = view.pid
        uid = view.uid
        kind = view.kind
        envelope = view.envelope
        store = view.store
        payload = view.payload
    }
}
