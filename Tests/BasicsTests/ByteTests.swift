import Basics
import Testing

@Suite struct ByteTests {
    /// Runs `body` on a reader of `bytes`; the failure comes back as a value.
    private func read<T>(
        _ bytes: [UInt8],
        _ body: (inout ByteReader) throws(TruncatedBytes) -> T
    ) -> Result<T, TruncatedBytes> {
        bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            do throws(TruncatedBytes) {
                return .success(try body(&reader))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test(
        arguments: [
            (0, [0x00]), (1, [0x01]), (127, [0x7f]), (128, [0x80, 0x01]), (300, [0xac, 0x02]),
            (16_383, [0xff, 0x7f]), (16_384, [0x80, 0x80, 0x01]),
            (UInt64.max >> 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            (UInt64.max, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ] as [(UInt64, [UInt8])]
    )
    func varint(value: UInt64, bytes: [UInt8]) {
        var writer = ByteWriter()
        writer.varint(value)
        #expect(writer.bytes == bytes)
        let back = read(bytes) { (r) throws(TruncatedBytes) in try r.varint() }
        #expect(back == .success(value))
    }

    @Test(
        arguments: [
            [], [0x80], [0xff, 0xff],
            // 65 bits, then ten bytes that do not end, then eleven.
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ] as [[UInt8]]
    )
    func refusesBadVarints(bytes: [UInt8]) {
        let back = read(bytes) { (r) throws(TruncatedBytes) in try r.varint() }
        #expect(back == .failure(TruncatedBytes(offset: 0)))
    }

    @Test(arguments: [0, -1, 1, -2, 63, -64, 64, .max, .min] as [Int64])
    func zigzag(value: Int64) {
        var writer = ByteWriter()
        writer.zigzag(value)
        if (-64...63).contains(value) { #expect(writer.count == 1) }
        let back = read(writer.bytes) { (r) throws(TruncatedBytes) in try r.zigzag() }
        #expect(back == .success(value))
    }

    @Test func fixedWidths() {
        var writer = ByteWriter()
        writer.u8(0x01)
        writer.u16(0x0302)
        writer.u32(0x0706_0504)
        writer.u64(0x0f0e_0d0c_0b0a_0908)
        #expect(writer.bytes == Array(1...15))
        let back = read(writer.bytes) { (r) throws(TruncatedBytes) in
            [UInt64(try r.u8()), UInt64(try r.u16()), UInt64(try r.u32()), try r.u64()]
        }
        #expect(back == .success([0x01, 0x0302, 0x0706_0504, 0x0f0e_0d0c_0b0a_0908]))
    }

    @Test func refusesToReadBeyondTheEnd() {
        let bytes = [UInt8](repeating: 7, count: 7)
        #expect(
            read(bytes) { (r) throws(TruncatedBytes) in try r.u64() }
                == .failure(TruncatedBytes(offset: 0))
        )
        let later = read(bytes) { (r) throws(TruncatedBytes) in
            _ = try r.u32()
            return try r.u32()
        }
        #expect(later == .failure(TruncatedBytes(offset: 4)))
        for count in [-1, 8, Int.max, Int.min] {
            let result = read(bytes) { (r) throws(TruncatedBytes) in try r.raw(count).count }
            #expect(result == .failure(TruncatedBytes(offset: 0)))
        }
        let all = read(bytes) { (r) throws(TruncatedBytes) in
            (try r.raw(7).count, r.isAtEnd, r.remaining) == (7, true, 0)
        }
        #expect(all == .success(true))
    }

    @Test func textAndPadding() {
        var writer = ByteWriter()
        writer.text("aü")
        writer.pad(to: 4)
        writer.pad(to: 4)
        #expect(writer.bytes == [0x61, 0xc3, 0xbc, 0])
        writer.u32(0)
        writer.patch(u32: 0x0403_0201, at: 4)
        #expect(Array(writer.bytes[4...]) == [1, 2, 3, 4])
        writer.truncate(to: 100)
        writer.truncate(to: 3)
        let text = read(writer.bytes) { (r) throws(TruncatedBytes) in try r.text(3) }
        #expect(text == .success("aü"))
        writer.reset()
        #expect(writer.count == 0)
    }

    @Test func randomNumbersRoundTrip() {
        var random = Seeded(1)
        let values = (0..<2000).map { _ in
            random.next() >> UInt64.random(in: 0..<64, using: &random)
        }
        var writer = ByteWriter()
        for value in values {
            writer.varint(value)
            writer.zigzag(Int64(bitPattern: value))
        }
        let back = read(writer.bytes) { (r) throws(TruncatedBytes) in
            var found: [UInt64] = []
            while !r.isAtEnd {
                found.append(try r.varint())
                if UInt64(bitPattern: try r.zigzag()) != found.last { found.append(0) }
            }
            return found
        }
        #expect(back == .success(values))
    }

    @Test func hexadecimal() {
        #expect(UInt32(0xc0ffee).hexadecimal == "00c0ffee")
        #expect(UInt8(0).hexadecimal == "00")
        #expect(UInt64.max.hexadecimal == "ffffffffffffffff")
    }
}
