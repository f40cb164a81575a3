/// What an entropy coder would make of byte planes, to choose between forms.
enum Entropy {
    /// c * log2(c) for small c.
    private static let products: [Float] = (0..<4096).map { index in
        index == 0 ? 0 : Float(index) * log2(Float(index))
    }

    /// Logarithm to base 2 of a number of at least 1, to about three decimals: the fraction comes
    /// bit by bit from squaring.
    private static func log2(_ value: Float) -> Float {
        var result = Float(value.exponent)
        var rest = value.significand
        var bit: Float = 0.5
        for _ in 0..<12 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                result += bit
            }
            bit /= 2
        }
        return result
    }

    /// Bits that the planes of `values` cost if each byte is coded by its frequency in its plane;
    /// infinity as soon as it is known to be no less than `limit`.
    static func bits(
        _ values: UnsafePointer<UInt64>,
        _ count: Int,
        width: Int,
        limit: Double
    ) -> Double {
        guard count > 0 else { return 0 }
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { counts in
            products.withUnsafeBufferPointer { table in
                let whole =
                    count < 4096 ? table[count] : Float(count) * log2(Float(count))
                var total: Double = 0
                for plane in 0..<width {
                    counts.update(repeating: 0)
                    let shift = UInt64(8 * plane)
                    for index in 0..<count {
                        counts[Int(truncatingIfNeeded: (values[index] >> shift) & 0xff)] += 1
                    }
                    var sum: Float = 0
                    var kinds = 0
                    for byte in 0..<256 where counts[byte] != 0 {
                        let times = Int(counts[byte])
                        kinds += 1
                        sum += times < 4096 ? table[times] : Float(times) * log2(Float(times))
                    }
                    total += Double(whole - sum) + Double(kinds * 4)
                    if total >= limit { return .infinity }
                }
                return total
            }
        }
    }
}
