import Basics
import Compression
import Telemetry
import Testing

@testable import Spool

/// The decoder on bytes whose checksum is right and whose content is not: what a forged spool has.
@Suite struct DecoderTests {
    private struct Sample {
        var batch: EncodedBatch
        var count: Int
    }

    private func sample() throws -> Sample {
        var records: [Record] = []
        for index in 0..<200 {
            let peer = "p\(index % 3)"
            records.append(record(UInt64(index), at: Int64(index * 7_919), peer: peer))
        }
        let batch = RecordBatch(records)
        let groups = (0..<3).map { index in
            BatchGroup(stream: Int64(index), instance: Int64(index), level: 6, count: 67)
        }
        let encoded = try BatchEncoder().encode(
            batch,
            0..<200,
            groupOf: batch.entries.map(\.instance),
            groups: groups,
            firstStore: 1
        )
        return Sample(batch: encoded, count: 200)
    }

    /// Decodes a blob after its checksum was made right again; true if that worked.
    private func decodes(_ sample: Sample, _ blob: [UInt8]) throws -> Bool {
        var blob = blob
        // magic, format, flags, two varints of two bytes each for this sample.
        let place = 10
        var sum: UInt32 = 0
        if blob.count >= place + 4 {
            sum = Checksum.crc32c(Array(blob[..<place]))
            sum = blob.withUnsafeBytes {
                Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[(place + 4)...]), from: sum)
            }
            for index in 0..<4 {
                blob[place + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
            }
        }
        var decoder = try BatchDecoder()
        let bytes = blob
        return bytes.withUnsafeBytes { raw in
            do throws(DamagedBatch) {
                let found = try decoder.decode(
                    raw,
                    row: sample.batch.row,
                    groups: sample.batch.groups,
                    checksum: Int64(sum),
                    withPayload: true,
                    text: nil
                )
                return found?.0.ends.count == sample.count
            } catch {
                return false
            }
        }
    }

    @Test func mutationsWithAValidChecksumNeverCrash() throws {
        let sample = try sample()
        let blob = sample.batch.data
        #expect(try decodes(sample, blob))
        var dice = Dice(state: 99)
        for _ in 0..<400 {
            var changed = blob
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                let place = Int.random(in: 0..<blob.count, using: &dice)
                changed[place] = UInt8.random(in: 0...255, using: &dice)
            }
            _ = try decodes(sample, changed)
        }
        for length in 0..<min(blob.count, 300) {
            #expect(try !decodes(sample, Array(blob[..<length])))
        }
    }

    @Test func columnsOfNoiseNeverCrash() throws {
        let sample = try sample()
        var dice = Dice(state: 4)
        for round in 0..<400 {
            var noise = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &dice) }
            // Small first bytes get further: they are valid groups.
            if round % 2 == 0 { for index in 0..<200 { noise[index] = noise[index] % 3 } }
            if round % 4 == 0 { for index in 200..<1_600 { noise[index] &= 0x7f } }
            _ = noise.withUnsafeBytes {
                EnvelopeColumns.decode(
                    $0,
                    count: 200,
                    groups: sample.batch.groups,
                    payloadBytes: 5_000
                )
            }
        }
    }

    @Test func streamsColumnOfNoiseIsRefused() throws {
        let sample = try sample()
        var dice = Dice(state: 8)
        for length in 0..<200 {
            let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &dice) }
            #expect(noise.withUnsafeBytes { sample.batch.row.groups(from: $0) } == nil)
        }
    }
}
