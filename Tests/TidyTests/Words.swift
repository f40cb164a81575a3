/// The identifiers and keywords of a piece of code, one after the other.
struct Words: Sequence, IteratorProtocol {
    struct Word: Equatable {
        let text: String
        /// Offsets of its first byte and of the byte after its last.
        let start: Int
        let end: Int
    }

    private let code: [UInt8]
    private var offset = 0

    init(_ code: [UInt8]) {
        self.code = code
    }

    mutating func next() -> Word? {
        while offset < code.count, !Self.isPart(code[offset]) { offset += 1 }
        guard offset < code.count else { return nil }
        let start = offset
        while offset < code.count, Self.isPart(code[offset]) { offset += 1 }
        let text = String(decoding: code[start..<offset], as: UTF8.self)
        return Word(text: text, start: start, end: offset)
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f: true
        default: byte >= 0x80
        }
    }
}
