internal import LinuxIO

/// Lines of a descriptor, without their end ("\n"); the last one need not have it.
struct InputLines {
    private let descriptor: Int32
    private var splitter: LineSplitter
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)
    private var isAtEnd = false

    init(descriptor: Int32, lineBytesMax: Int) {
        self.descriptor = descriptor
        splitter = LineSplitter(lineBytesMax: lineBytesMax)
    }

    /// Number of the line that was given last, from 1.
    var number: Int { splitter.number }
    /// True if that line was longer than the limit, and was cut.
    var isCut: Bool { splitter.isCut }

    /// The next line, waiting for it; nil at the end.
    mutating func next() throws(SystemError) -> [UInt8]? {
        while true {
            if let line = splitter.next() { return line }
            if isAtEnd { return splitter.rest() }
            let count = try Descriptor.read(descriptor, into: &chunk)
            isAtEnd = count == 0
            splitter.feed(chunk[..<count])
        }
    }
}
