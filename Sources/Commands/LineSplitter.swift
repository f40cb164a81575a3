/// Cuts bytes that come in pieces into lines, without their end ("\n").
struct LineSplitter {
    /// Number of the line that was given last, from 1.
    private(set) var number = 0
    /// True if that line was longer than the limit: what followed of it was thrown away.
    private(set) var isCut = false
    /// Bytes of that line, with those that were thrown away.
    private(set) var length = 0

    private let lineBytesMax: Int
    /// What was fed and not yet taken begins at `start`.
    private var piece: [UInt8] = []
    private var start = 0
    /// A line whose end has not come.
    private var line: [UInt8] = []
    private var isBegun = false
    private var isLineCut = false
    private var lineLength = 0

    init(lineBytesMax: Int) {
        self.lineBytesMax = lineBytesMax
    }

    /// Adds bytes; what was fed before has been taken by then, all but the begun line.
    mutating func feed(_ bytes: ArraySlice<UInt8>) {
        if start == piece.count {
            piece.removeAll(keepingCapacity: true)
            start = 0
        }
        piece.append(contentsOf: bytes)
    }

    /// The next line whose end has come.
    mutating func next() -> [UInt8]? {
        guard start < piece.count else { return nil }
        isBegun = true
        let newline = piece[start...].firstIndex(of: 0x0a)
        let end = newline ?? piece.count
        let room = lineBytesMax - line.count
        if end - start > room { isLineCut = true }
        lineLength += end - start
        line.append(contentsOf: piece[start..<start + min(room, end - start)])
        start = newline.map { $0 + 1 } ?? end
        return newline == nil ? nil : taken()
    }

    /// The begun line as it is, where no more of it will come; nil if there is none.
    ///
    /// All whole lines have been taken by then.
    mutating func rest() -> [UInt8]? {
        isBegun ? taken() : nil
    }

    /// True if every whole line has been taken.
    var isDrained: Bool { start == piece.count }

    /// Bytes that were fed and not given, the begun line included.
    var waitingBytes: Int { piece.count - start + line.count }

    /// Counts lines from 1 again.
    mutating func restartNumbers() {
        number = 0
    }

    private mutating func taken() -> [UInt8] {
        defer {
            line = []
            isBegun = false
            isLineCut = false
            lineLength = 0
        }
        number += 1
        isCut = isLineCut
        length = lineLength
        return line
    }
}
