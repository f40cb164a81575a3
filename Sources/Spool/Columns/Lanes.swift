internal import Basics

/// Where the encoder puts its bytes: what describes a column goes to `meta`, what it holds to one
/// of three lanes, so that alike bytes lie together and compress together.
///
/// Invariants:
/// 1. The decoder meets columns in the same order and takes the same counts from the same lanes.
/// 2. Texts in the lane of texts end with `Lanes.end`, which no value contains.
struct Lanes {
    /// Ends each text: a line feed, which JSON never has inside a value.
    static let end: UInt8 = 0x0a

    var meta = ByteWriter(capacity: 4096)
    var numbers = Lane()
    var ids = Lane()
    var texts = Lane()
    /// Texts that nothing sets apart from what is beside them: constants and rows.
    var alone: [Piece] = []

    mutating func reset() {
        alone.removeAll(keepingCapacity: true)
        meta.reset()
        numbers.reset()
        ids.reset()
        texts.reset()
    }
}

/// A growing buffer, and the places in it where the sort of content changes.
struct Lane {
    /// Stretches of at least this many bytes get a block, and so a Huffman table, of their own.
    static let cutBytes = 2048

    private(set) var bytes: [UInt8] = []
    private(set) var cuts: [Int] = []

    var count: Int { bytes.count }

    mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        cuts.removeAll(keepingCapacity: true)
    }

    /// Appends `count` bytes that `fill` writes; they have one distribution.
    @inline(__always)
    mutating func append(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        let start = bytes.count
        if count >= Self.cutBytes, cuts.last != start { cuts.append(start) }
        bytes.append(contentsOf: repeatElement(0, count: count))
        bytes.withUnsafeMutableBufferPointer {
            if let base = $0.baseAddress { fill(base + start) }
        }
        if count >= Self.cutBytes { cuts.append(start + count) }
    }
}
