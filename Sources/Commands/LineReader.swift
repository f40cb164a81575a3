internal import LinuxIO

/// Lines of a descriptor, without their end ("\n"); the last one need not have it.
struct LineReader {
    /// Number of the line that `next` gave last, from 1.
    private(set) var number = 0
    /// True if that line was longer than the limit: what follows of it was thrown away.
    private(set) var isCut = false

    private let descriptor: Int32
    private let lineBytesMax: Int
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)
    private var start = 0
    private var end = 0
    private var isAtEnd = false

    init(descriptor: Int32, lineBytesMax: Int) {
        self.descriptor = descriptor
        self.lineBytesMax = lineBytesMax
    }

    /// The next line; nil at the end.
    mutating func next() throws(SystemError) -> [UInt8]? {
        var line: [UInt8] = []
        isCut = false
        var isStarted = false
        while true {
            if start == end {
                if !isAtEnd {
                    start = 0
                    end = try Descriptor.read(descriptor, into: &chunk)
                    isAtEnd = end == 0
                }
                if isAtEnd {
                    guard isStarted else { return nil }
                    number += 1
                    return line
                }
            }
            isStarted = true
            let newline = chunk[start..<end].firstIndex(of: 0x0a)
            let upTo = newline ?? end
            let room = lineBytesMax - line.count
            if upTo - start > room { isCut = true }
            line.append(contentsOf: chunk[start..<start + min(room, upTo - start)])
            start = newline.map { $0 + 1 } ?? end
            if newline != nil {
                number += 1
                return line
            }
        }
    }
}
