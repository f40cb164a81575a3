import LinuxIO
import Telemetry
import Testing

@testable import Spool

/// The example of docs/spool-format.md: bytes that were written once must be read for ever.
@Suite struct GoldenColumnTests {
    private static func sample() -> ColumnSample {
        let payloads = (1...64).map { "{\"n\":\($0),\"ip\":\"10.0.0.\($0)\"}" }
        var sample = ColumnSample(payloads)
        for index in 0..<64 {
            let time = 1_796_000_000_000_000_000 + Int64(index) * 1_000_000
            sample.records[index].stream = 3
            sample.records[index].instance = 7
            sample.records[index].store = UInt64(index + 1)
            sample.records[index].envelope = Envelope(
                sequence: UInt64(index + 1),
                level: .info,
                time: time,
                boot: UInt64(time + 1000),
                received: time,
                order: time
            )
        }
        return sample
    }

    private func golden() throws -> [UInt8] {
        let page = String(#filePath.dropLast("Tests/SpoolTests/GoldenColumnTests.swift".count))
        let bytes = try Files.contents(page + "docs/spool-format.md")
        let text = String(decoding: bytes, as: UTF8.self)
        var isInside = false
        var digits: [UInt8] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInside = line == "```hex"
            } else if isInside {
                digits += line.utf8.filter { $0 != 0x20 }
            }
        }
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    @Test func theExampleIsRead() throws {
        let sample = Self.sample()
        let decoder = try ColumnBatchDecoder()
        try decoder.open(try golden())
        #expect(decoder.isColumnar)
        #expect(try decoder.allPayloads() == sample.payloads)
        let back = try decoder.envelopes()
        #expect(back.map(\.envelope) == sample.records.map(\.envelope))
        #expect(back.map(\.store) == sample.records.map(\.store))
        #expect(back.map(\.stream) == Array(repeating: 3, count: 64))
        #expect(back.map(\.instance) == Array(repeating: 7, count: 64))
        #expect(try decoder.directory().map(\.path) == ["/n", "/ip"])
        #expect(try decoder.directory()[0].bounds == 1...64)
    }

    /// Another zstd may pack otherwise; what is packed must be the same.
    @Test func theExampleIsWhatIsWritten() throws {
        let blob = try Self.sample().encode()
        let hex = blob.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        let isSame = try blob == golden()
        #expect(isSame, "written now: \(hex)")
    }
}
