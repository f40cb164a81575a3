import Basics
import Testing

@Suite struct IntervalSetTests {
    private func set(_ ranges: ClosedRange<UInt64>...) -> IntervalSet {
        var set = IntervalSet()
        for range in ranges { set.insert(range) }
        return set
    }

    private func decoded(_ bytes: [UInt8]) -> Result<IntervalSet, TruncatedBytes> {
        bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            do throws(TruncatedBytes) {
                return .success(try IntervalSet(from: &reader))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func startsEmpty() {
        let empty = IntervalSet()
        #expect(empty.isEmpty && empty.count == 0 && empty.last == nil && empty.contiguous == 0)
        #expect(empty.holes(upTo: 0) == [])
        #expect(empty.holes(upTo: 3) == [1...3])
    }

    @Test func mergesWhatTouches() {
        #expect(set(1...3, 4...5).ranges == [1...5])
        #expect(set(4...5, 1...3).ranges == [1...5])
        #expect(set(1...1, 3...3, 2...2).ranges == [1...3])
        #expect(set(1...2, 5...6, 9...9, 2...9).ranges == [1...9])
        #expect(set(1...2, 4...5).ranges == [1...2, 4...5])
    }

    @Test func tellsWhatIsNew() {
        var set = set(2...4, 8...9)
        #expect(set.insert(1...10) == 5)
        #expect(set.insert(5) == false)
        #expect(set.insert(11) == true)
        #expect(set.count == 11)
    }

    @Test func findsHoles() {
        let set = set(3...4, 7...7)
        #expect(set.holes(upTo: 9) == [1...2, 5...6, 8...9])
        #expect(set.holes(upTo: 7) == [1...2, 5...6])
        #expect(set.holes(upTo: 3) == [1...2])
        #expect(set.holes(upTo: 6) == [1...2, 5...6])
        #expect(set.contiguous == 0)
        #expect(self.set(1...4, 6...6).contiguous == 4)
    }

    /// The whole of 64 bits holds one number more than a UInt64 can say.
    @Test func staysWhole() {
        var set = set(1...(.max))
        #expect(set.count == .max)
        #expect(set.insert(UInt64.max) == false)
        #expect(set.holes(upTo: .max) == [])
        set.insert(0...(.max))
        #expect(set.ranges == [0...(.max)])
        #expect(set.count == .max)
        #expect(set.insert(0...(.max)) == 0)
        #expect(self.set((.max)...(.max), 0...0).ranges == [0...0, (.max)...(.max)])
        #expect(self.set((.max - 1)...(.max - 1)).holes(upTo: .max).last == (.max)...(.max))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func agreesWithASet(seed: UInt64) {
        var random = Seeded(seed)
        var naive: Set<UInt64> = []
        var set = IntervalSet()
        for _ in 0..<300 {
            let low = UInt64.random(in: 0...200, using: &random)
            let length = UInt64.random(in: 0...(seed % 2 == 0 ? 0 : 12), using: &random)
            let before = naive.count
            naive.formUnion(low...low + length)
            let new = set.insert(low...low + length)
            guard new == UInt64(naive.count - before) else {
                Issue.record("seed \(seed): \(low)...\(low + length) gave \(new)")
                return
            }
        }
        #expect(set.count == UInt64(naive.count))
        #expect(set.last == naive.max())
        #expect((0...230).allSatisfy { set.contains($0) == naive.contains($0) })
        let absent = set.holes(upTo: 230).flatMap { Array($0) }
        #expect(absent == (1...230).filter { !naive.contains($0) })
        #expect(set.contiguous == (1...300).first { !naive.contains($0) }.map { $0 - 1 })
        for (left, right) in zip(set.ranges, set.ranges.dropFirst()) {
            #expect(left.upperBound + 1 < right.lowerBound)
        }
        var writer = ByteWriter()
        set.encode(into: &writer)
        #expect(decoded(writer.bytes) == .success(set))
    }

    @Test func encodesShort() {
        var writer = ByteWriter()
        set(1...1_000_000).encode(into: &writer)
        #expect(writer.count == 5)
    }

    @Test func refusesDamage() {
        var writer = ByteWriter()
        set(5...9, 20...30, 1000...2000).encode(into: &writer)
        for count in 0..<writer.count {
            let cut = decoded(Array(writer.bytes[..<count]))
            #expect(throws: TruncatedBytes.self) { try cut.get() }
        }
        // A count of 2^63 ranges, and a range that ends above 2^64.
        let many: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0]
        #expect(throws: TruncatedBytes.self) { try decoded(many).get() }
        let whole = [UInt8](repeating: 0xff, count: 9) + [0x01]
        #expect(throws: TruncatedBytes.self) { try decoded([1, 5] + whole).get() }
        #expect(throws: Never.self) { try decoded([1, 0] + whole).get() }
    }

    @Test func survivesRandomBytes() {
        var random = Seeded(3)
        for _ in 0..<5000 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = (0..<count).map { _ in
                [0, 1, 2, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(
                        using: &random
                    ) ?? 0
            }
            guard case .success(let set) = decoded(bytes) else { continue }
            #expect(
                zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
            )
        }
    }
}

@Test func contiguousFromAnywhere() {
    var set = IntervalSet()
    #expect(set.contiguous(after: 0) == 0 && set.contiguous(after: 7) == 7)
    set.insert(5...9)
    set.insert(12...12)
    let expected: [UInt64: UInt64] = [0: 0, 3: 3, 4: 9, 7: 9, 9: 9, 11: 12, 12: 12, 40: 40]
    for (start, end) in expected { #expect(set.contiguous(after: start) == end, "\(start)") }
    #expect(set.contiguous(after: .max) == .max)
}
