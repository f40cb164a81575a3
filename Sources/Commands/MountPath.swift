/// Paths in /proc/self/mounts have blanks and the like as octal escapes: `\040`.
enum MountPath {
    static func decoded(_ text: Substring) -> String {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = byte == UInt8(ascii: "\\") && digits.count == 3
            if isEscape, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                let value = digits.reduce(UInt32(0)) { $0 << 3 | UInt32($1 & 7) }
                out.append(UInt8(truncatingIfNeeded: value))
                rest = rest.dropFirst(3)
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
