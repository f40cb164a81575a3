extension FixedWidthInteger where Self: UnsignedInteger {
    /// Lower-case hexadecimal, filled up with zeros to the type's full width: `00c0ffee`.
    public var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
