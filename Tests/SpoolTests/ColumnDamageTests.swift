import Basics
import Compression
import Telemetry
import Testing

@testable import Spool

/// Cold batches whose bytes are anything: an error or the same records, never a trap.
@Suite struct ColumnDamageTests {
    private static func sample(_ seed: UInt64) -> ColumnSample {
        var json = RandomJSON(random: SeededGenerator(state: seed))
        let pool = (0..<10).map { _ in json.value(2) }
        var texts: [String] = []
        for index in 0..<120 {
            let day = 10 + index % 20
            let user = ["ann", "bob"][index % 2]
            let text = "{\"t\":\"2026-11-\(day) from 10.0.\(index).7\",\"n\":\(index * index),"
            texts.append(
                index % 3 == 0
                    ? pool[index % 10] : text + "\"d\":\(index % 9).25,\"u\":\"\(user)\"}"
            )
        }
        return ColumnSample(texts)
    }

    /// Reads all that there is to read; nil where the bytes are refused.
    private func readAll(_ decoder: ColumnBatchDecoder, _ blob: [UInt8]) -> [[UInt8]]? {
        do {
            try decoder.open(blob)
            _ = try decoder.envelopes()
            for column in try decoder.directory() {
                _ = try decoder.integers(at: column.path)
                _ = try decoder.texts(at: column.path, isString: column.isString)
            }
            _ = try decoder.search(TextPattern("from"))
            _ = try decoder.search(TextPattern("10.0.4"))
            return try decoder.allPayloads()
        } catch {
            return nil
        }
    }

    @Test("every truncation is refused")
    func truncations() throws {
        let sample = Self.sample(1)
        let blob = try sample.encode()
        let decoder = try ColumnBatchDecoder()
        for length in 0..<blob.count { #expect(readAll(decoder, Array(blob[..<length])) == nil) }
        #expect(readAll(decoder, blob) == sample.payloads)
    }

    @Test("a flipped bit in every byte is refused")
    func flips() throws {
        let blob = try Self.sample(2).encode()
        let decoder = try ColumnBatchDecoder()
        for bit in stride(from: 0, to: blob.count * 8, by: 3) {
            var bad = blob
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(readAll(decoder, bad) == nil)
        }
    }

    /// Frame 1 and frame 2 of a blob, unpacked.
    private func frames(_ blob: [UInt8]) throws -> (ColumnBlob, [UInt8], [UInt8]) {
        let zstd = try ZstdDecompressor()
        return try blob.withUnsafeBytes { bytes in
            let head = try ColumnBlob(bytes)
            let envelope = try zstd.decompress(head.envelope, limit: 1 << 20)
            return (head, envelope, try zstd.decompress(head.payload, limit: 1 << 20))
        }
    }

    private func forge(_ head: ColumnBlob, _ one: [UInt8], _ two: [UInt8]) throws -> [UInt8] {
        let zstd = try ZstdCompressor(level: 1)
        var frames: ([UInt8], [UInt8]) = ([], [])
        try one.withUnsafeBytes { try zstd.compress($0, appendingTo: &frames.0) }
        try two.withUnsafeBytes { try zstd.compress($0, appendingTo: &frames.1) }
        return ColumnBlob.assemble(
            layout: head.layout,
            count: head.count,
            raw: head.raw,
            checksum: head.checksum,
            envelope: frames.0,
            payload: frames.1
        )
    }

    @Test("forged contents under right checksums", arguments: 0..<8)
    func forged(seed: Int) throws {
        let sample = Self.sample(UInt64(seed))
        let (head, one, two) = try frames(try sample.encode())
        #expect(head.layout == .columns)
        let decoder = try ColumnBatchDecoder()
        var random = SeededGenerator(state: UInt64(seed))
        var refused = 0
        for _ in 0..<400 {
            var (envelope, image) = (one, two)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let byte = UInt8.random(in: 0...255, using: &random)
                if Int.random(in: 0..<5, using: &random) == 0 {
                    envelope[Int.random(in: 0..<envelope.count, using: &random)] = byte
                } else {
                    // The description comes first and says the most.
                    let end = Bool.random(using: &random) ? image.count : image.count / 4
                    image[Int.random(in: 0..<end, using: &random)] = byte
                }
            }
            let found = readAll(decoder, try forge(head, envelope, image))
            if found == nil { refused += 1 }
            // The checksum of the payloads stands: nothing else can come out.
            if let found { #expect(found == sample.payloads) }
        }
        #expect(refused > 250)
        for length in stride(from: 0, to: two.count, by: 7) {
            #expect(readAll(decoder, try forge(head, one, Array(two[..<length]))) == nil)
        }
    }

    @Test("trap 12: a size bomb is refused before memory is taken")
    func bombs() throws {
        let (head, one, two) = try frames(try Self.sample(3).encode())
        let decoder = try ColumnBatchDecoder()
        let bomb = [UInt8](repeating: 0, count: 8 << 20)
        #expect(readAll(decoder, try forge(head, one, bomb)) == nil)
        #expect(readAll(decoder, try forge(head, bomb, two)) == nil)
        var wide = head
        wide.raw = 1 << 40
        #expect(readAll(decoder, try forge(wide, one, two)) == nil)
        wide = head
        wide.count = 1 << 30
        #expect(readAll(decoder, try forge(wide, one, two)) == nil)
        // One shape with a million values, used by every record: 2^36 values.
        var lanes = Lanes()
        lanes.meta.varint(1)
        lanes.meta.varint(1 << 20)
        lanes.meta.u8(0)
        lanes.meta.zigzag(1 << 16)
        lanes.meta.u8(0)
        lanes.meta.zigzag(0)
        var image = ByteWriter()
        image.varint(UInt64(lanes.meta.count))
        image.varint(0)
        image.varint(0)
        image.raw(lanes.meta.bytes)
        image.raw([UInt8](repeating: Shape.bare, count: (1 << 20) - 1) + [0])
        wide = head
        wide.raw = ColumnLimits.rawMax
        wide.count = 1 << 16
        #expect(readAll(decoder, try forge(wide, one, image.bytes)) == nil)
    }
}
