internal import Basics
internal import Telemetry

/// The JSON shape of a record, the same in every command (CLI.md).
///
/// Neighbours in the output mostly share sender, kind and second: their texts are kept.
struct RecordJSON {
    private var time = StampPrinter()
    private var received = StampPrinter()
    private var instance: PeerInstance?
    private var kind = ""
    /// `","peer":…,"kind":…,"level":"` of `instance` and `kind`.
    private var names: [UInt8] = []
    /// `","id":"…/…/` of `instance`.
    private var identifier: [UInt8] = []

    /// Appends one object, without a line end and with none inside.
    mutating func append(_ record: RecordItem, to out: inout [UInt8]) {
        if instance != record.instance || kind != record.kind { rememberNames(record) }
        let envelope = record.envelope
        out.append(contentsOf: "{\"time\":\"".utf8)
        time.append(envelope.time, to: &out)
        out.append(contentsOf: names)
        out.append(contentsOf: envelope.level.name.utf8)
        out.append(contentsOf: "\",\"seq\":".utf8)
        out.appendDecimal(envelope.sequence)
        out.append(contentsOf: ",\"epoch\":".utf8)
        out.appendDecimal(record.instance.epoch)
        out.append(contentsOf: ",\"received\":\"".utf8)
        received.append(envelope.received, to: &out)
        out.append(contentsOf: identifier)
        out.appendDecimal(envelope.sequence)
        out.append(contentsOf: "\",\"store\":".utf8)
        out.appendDecimal(record.store)
        out.append(contentsOf: ",\"pid\":".utf8)
        out.appendDecimal(Int64(record.pid))
        out.append(contentsOf: ",\"uid\":".utf8)
        out.appendDecimal(UInt64(record.uid))
        out.append(contentsOf: ",\"payload\":".utf8)
        Self.appendPayload(record.payload, to: &out)
        out.append(UInt8(ascii: "}"))
    }

    private mutating func rememberNames(_ record: RecordItem) {
        instance = record.instance
        kind = record.kind
        names = Array("\",\"peer\":".utf8)
        JSONText.appendString(record.instance.identifier, to: &names)
        names.append(contentsOf: ",\"kind\":".utf8)
        JSONText.appendString(record.kind, to: &names)
        names.append(contentsOf: ",\"level\":\"".utf8)
        identifier = Array("\",\"id\":".utf8)
        JSONText.appendString(record.instance.identifier, to: &identifier)
        identifier.removeLast()
        identifier.append(UInt8(ascii: "/"))
        identifier.appendDecimal(record.instance.epoch)
        identifier.append(UInt8(ascii: "/"))
    }

    /// The payload byte for byte.
    ///
    /// JSON has raw line ends only as white space between values; they become blanks, so that a
    /// line stays one line.
    private static func appendPayload(_ payload: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        if payload.isEmpty { return out.append(contentsOf: "null".utf8) }
        let start = out.count
        out.append(contentsOf: payload)
        guard ControlBytes.occur(in: payload) else { return }
        for index in start..<out.count where out[index] == 0x0a || out[index] == 0x0d {
            out[index] = 0x20
        }
    }
}

/// Looks for bytes below 0x20, eight at a time.
enum ControlBytes {
    static func occur(in bytes: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // Exact for "is there any", though not for which.
            if (word &- ones &* 0x20) & ~word & (ones &* 0x80) != 0 { return true }
            offset += 8
        }
        while offset < bytes.count {
            if bytes[offset] < 0x20 { return true }
            offset += 1
        }
        return false
    }
}
