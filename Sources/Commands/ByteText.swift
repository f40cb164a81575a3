/// Sizes as people write them: `500M`, `1.5G`, `64KiB`, or bytes alone; K, M, G and T are powers of
/// 1024.
enum ByteText {
    /// The bytes; nil for what is no size or too large for 64 bits.
    static func parse(_ text: String) -> UInt64? {
        var digits = Substring(text)
        var power: UInt64 = 0
        for (index, letter) in "KMGT".enumerated() {
            for tail in ["\(letter)iB", "\(letter)B", "\(letter)"] where digits.hasSuffix(tail) {
                digits = digits.dropLast(tail.count)
                power = UInt64(index + 1)
                break
            }
            if power > 0 { break }
        }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = number(parts[0]) else { return nil }
        let unit: UInt64 = 1 << (10 * power)
        let (bytes, isOver) = whole.multipliedReportingOverflow(by: unit)
        if isOver { return nil }
        guard parts.count == 2 else { return bytes }
        // Three digits behind the point are enough, and exact.
        guard power > 0, parts[1].count <= 3, let fraction = number(parts[1]) else { return nil }
        let scale = [1, 10, 100, 1000][parts[1].count] as UInt64
        let (sum, isTooMuch) = bytes.addingReportingOverflow(fraction * unit / scale)
        return isTooMuch ? nil : sum
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(text)
    }
}
