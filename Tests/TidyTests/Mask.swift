/// Blanks comments and the contents of string literals (interpolations with them), byte by byte.
struct Mask {
    private var bytes: [UInt8]
    private var offset = 0

    static func blanked(_ bytes: [UInt8]) -> [UInt8] {
        var mask = Mask(bytes: bytes)
        while mask.offset < bytes.count { mask.step() }
        return mask.bytes
    }

    private mutating func step() {
        switch bytes[offset] {
        case UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "\""): break
        default:
            offset += 1
            return
        }
        if comes("//") {
            while offset < bytes.count, bytes[offset] != 0x0a { blank() }
        } else if comes("/*") {
            blockComment()
        } else if let hashes = openingHashes() {
            string(hashes: hashes)
        } else {
            offset += 1
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if comes("/*") {
                depth += 1
                blank(2)
            } else if comes("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && offset < bytes.count
    }

    /// Hashes before the quote if a string literal begins here.
    private func openingHashes() -> Int? {
        var end = offset
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - offset : nil
    }

    private mutating func string(hashes: Int) {
        offset += hashes
        let isLong = comes("\"\"\"")
        let marks = String(repeating: "#", count: hashes)
        let end = (isLong ? "\"\"\"" : "\"") + marks
        let escape = "\\" + marks
        offset += isLong ? 3 : 1
        while offset < bytes.count {
            if comes(end) {
                offset += end.utf8.count
                return
            }
            if !isLong, bytes[offset] == 0x0a { return }
            if comes(escape + "(") {
                blank(escape.utf8.count)
                interpolation()
            } else if comes(escape) {
                blank(escape.utf8.count + 1)
            } else {
                blank()
            }
        }
    }

    /// From the opening to after the closing parenthesis; strings inside it may hold parentheses.
    private mutating func interpolation() {
        var depth = 0
        repeat {
            if let hashes = openingHashes() {
                let start = offset
                string(hashes: hashes)
                for index in start..<offset where bytes[index] != 0x0a { bytes[index] = 0x20 }
                continue
            }
            if comes("(") { depth += 1 }
            if comes(")") { depth -= 1 }
            blank()
        } while depth > 0 && offset < bytes.count
    }

    private func comes(_ text: String) -> Bool {
        guard text.utf8.first == bytes[offset] else { return false }
        return bytes[offset...].starts(with: text.utf8)
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where offset < bytes.count {
            if bytes[offset] != 0x0a { bytes[offset] = 0x20 }
            offset += 1
        }
    }
}
