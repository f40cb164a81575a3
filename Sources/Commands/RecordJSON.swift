internal import Basics
internal import Telemetry

/// The JSON shape of a record, the same in every command (CLI.md).
enum RecordJSON {
    /// Appends one object, without a line end and with none inside.
    static func append(_ record: RecordItem, to out: inout [UInt8]) {
        let envelope = record.envelope
        out.append(contentsOf: "{\"time\":\"".utf8)
        CivilTime.appendRFC3339(envelope.time, to: &out)
        out.append(contentsOf: "\",\"peer\":".utf8)
        JSONText.appendString(record.instance.identifier, to: &out)
        out.append(contentsOf: ",\"kind\":".utf8)
        JSONText.appendString(record.kind, to: &out)
        out.append(contentsOf: ",\"level\":\"".utf8)
        out.append(contentsOf: envelope.level.name.utf8)
        out.append(contentsOf: "\",\"seq\":".utf8)
        out.appendDecimal(envelope.sequence)
        out.append(contentsOf: ",\"epoch\":".utf8)
        out.appendDecimal(record.instance.epoch)
        out.append(contentsOf: ",\"received\":\"".utf8)
        CivilTime.appendRFC3339(envelope.received, to: &out)
        out.append(contentsOf: "\",\"id\":".utf8)
        appendID(record, to: &out)
        out.append(contentsOf: ",\"store\":".utf8)
        out.appendDecimal(record.store)
        out.append(contentsOf: ",\"pid\":".utf8)
        out.appendDecimal(Int64(record.pid))
        out.append(contentsOf: ",\"uid\":".utf8)
        out.appendDecimal(UInt64(record.uid))
        out.append(contentsOf: ",\"payload\":".utf8)
        appendPayload(record.payload, to: &out)
        out.append(UInt8(ascii: "}"))
    }

    private static func appendID(_ record: RecordItem, to out: inout [UInt8]) {
        JSONText.appendString(record.instance.identifier, to: &out)
        out.removeLast()
        out.append(UInt8(ascii: "/"))
        out.appendDecimal(record.instance.epoch)
        out.append(UInt8(ascii: "/"))
        out.appendDecimal(record.envelope.sequence)
        out.append(UInt8(ascii: "\""))
    }

    /// The payload byte for byte.
    ///
    /// JSON has raw line ends only as white space between values; they become blanks, so that a
    /// line stays one line.
    private static func appendPayload(_ payload: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        if payload.isEmpty { return out.append(contentsOf: "null".utf8) }
        let start = out.count
        out.append(contentsOf: payload)
        guard payload.contains(where: { $0 < 0x20 }) else { return }
        for index in start..<out.count where out[index] == 0x0a || out[index] == 0x0d {
            out[index] = 0x20
        }
    }
}
