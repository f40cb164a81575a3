import Telemetry

@testable import Spool

/// Random numbers that are the same for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Records with given payloads and numbers as a sender in good order has them.
struct ColumnSample {
    var payloads: [[UInt8]]
    var bytes: [UInt8] = []
    var records: [ColumnRecord] = []

    init(_ texts: [String]) {
        self.init(texts.map { Array($0.utf8) })
    }

    init(_ payloads: [[UInt8]]) {
        self.payloads = payloads
        for (index, payload) in payloads.enumerated() {
            let start = bytes.count
            bytes += payload
            let time = 1_796_000_000_000_000_000 + Int64(index) * 1_000_003
            records.append(
                ColumnRecord(
                    stream: 3,
                    instance: Int64(index / 40),
                    envelope: Envelope(
                        sequence: UInt64(index % 40 + 1),
                        level: index % 7 == 0 ? .warning : .info,
                        time: time,
                        boot: UInt64(time - 1_795_000_000_000_000_000),
                        received: time + 150_000 + Int64(index * 7919 % 1000),
                        order: time
                    ),
                    store: UInt64(100 + index * 3),
                    payload: start..<bytes.count
                )
            )
        }
    }

    func encode() throws -> [UInt8] {
        var encoder = try ColumnBatchEncoder()
        return try bytes.withUnsafeBytes { try encoder.encode(records[...], payloads: $0) }
    }

    /// A decoder with the encoded batch in it.
    func open() throws -> ColumnBatchDecoder {
        let decoder = try ColumnBatchDecoder()
        try decoder.open(try encode())
        return decoder
    }
}

extension ColumnBatchDecoder {
    func open(_ blob: [UInt8]) throws {
        let result = blob.withUnsafeBytes { bytes in
            Result { () throws(DamagedBatch) in try open(bytes) }
        }
        try result.get()
    }

    /// Every payload, as an array of its own.
    func allPayloads() throws -> [[UInt8]] { try payloads().split() }
}

extension ColumnBatchDecoder.Payloads {
    func split() -> [[UInt8]] {
        var start = 0
        return ends.map { end in
            defer { start = end }
            return Array(bytes[start..<end])
        }
    }
}

/// Random JSON of every sort.
struct RandomJSON {
    var random: SeededGenerator

    static let scalars = [
        "0", "-0", "1", "1.0", "-1", "-1.50", "1e400", "1E+2", "0.0009539127349853516", "0.10",
        "123456789012345678", "1234567890123456789", "-999999999999999999",
        "123456789012345678901234567890", "true", "false", "null", "\"\"",
        "\"0\"", "\"007\"", "\"10.0.1.6\"", "\"2018-03-24T17:16:14.020699Z\"", "{}", "[]", "[ ]",
        "\"C5IOU925LDlT2RipFc\"", "\"\\u0041\\n\\\"\\\\\\/\"", "\"🚀 später\"",
        "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"", "\"99999999999999999999999999999999999\"",
    ]

    mutating func value(_ depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 7), using: &random) {
        case 0...2: return Self.scalars.randomElement(using: &random) ?? "0"
        case 3: return String(Int64.random(in: -1_000_000...1_000_000, using: &random))
        case 4:
            return
                String(Int.random(in: 0..<999, using: &random))
                + ".\(Int.random(in: 0..<99, using: &random))"
        case 5: return "\"\(text())\""
        case 6: return String(Int64.random(in: .min ... .max, using: &random))
        case 7: return "[" + list(depth) { $0.value(depth - 1) } + "]"
        default:
            let items = list(depth) { "\"" + $0.key() + "\":" + $0.space() + $0.value(depth - 1) }
            return "{" + items + "}"
        }
    }

    private mutating func key() -> String {
        ["a", "b", "id.orig_h", "k/~*", "\\\"q", "ü", ""].randomElement(using: &random) ?? "a"
    }

    mutating func space() -> String {
        ["", "", "", " ", "\n\t", "\r\n "].randomElement(using: &random) ?? ""
    }

    private mutating func text() -> String {
        let words = ["user", "10", "admin", "from", "0x1f", " ", "=", ":", "é", "port 22", "-"]
        let count = Int.random(in: 0..<6, using: &random)
        return (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
    }

    private mutating func list(_ depth: Int, _ item: (inout RandomJSON) -> String) -> String {
        let count = Int.random(in: 0..<5, using: &random)
        return (0..<count).map { _ in item(&self) + space() }.joined(separator: ",")
    }
}
