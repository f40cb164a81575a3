internal import LinuxIO

/// What of a write-ahead log SQLite will not read, though it belongs to the log's present run.
///
/// SQLite reads a log up to the first frame that is broken, says nothing of what stands behind it,
/// and overwrites that with the next commit; a log whose head is broken is empty to it. So a writer
/// looks before it lets SQLite (file format, 4.1 to 4.3). A commit that was cut short between two
/// frames, as kill -9 does it, is no damage: nobody was told that it is stored.
struct LogTail: Equatable {
    /// Bytes of the log up to the end of its last readable commit; 0 where its head is broken.
    var start: Int
    /// The end of the last frame of the run.
    var end: Int
    /// Marks of commits in between.
    var commits: Int

    private static let headBytes = 32
    private static let frameHeadBytes = 24

    /// Copies it to a folder of its own.
    static func setAside(_ directory: String) throws(SystemError) -> SpoolFinding? {
        let path = Schema.log(directory)
        guard let tail = find(path) else { return nil }
        let aside = try Aside(spool: directory)
        let copy = try Files.create(aside.file("hot.db-wal"), mode: 0o640)
        let log = try Files.openToRead(path)
        if tail.start > 0 { try Self.copy(log.raw, 0..<headBytes, to: copy.raw) }
        try Self.copy(log.raw, tail.start..<tail.end, to: copy.raw)
        try Files.sync(aside.file("hot.db-wal"))
        try aside.sync()
        var what = "the log of hot.db breaks off \(tail.end - tail.start) bytes before its end"
        if tail.commits > 0 { what += ", with \(tail.commits) commits in them" }
        return SpoolFinding(what: what, aside: aside.name)
    }

    private static func copy(_ raw: Int32, _ range: Range<Int>, to copy: Int32) throws(SystemError)
    {
        var at = range.lowerBound
        while at < range.upperBound {
            var chunk = [UInt8](repeating: 0, count: min(1 << 20, range.upperBound - at))
            guard Descriptor.read(raw, at: at, into: &chunk) else { return }
            try Descriptor.write(copy, chunk)
            at += chunk.count
        }
    }

    /// Nil where SQLite will read all of it, or the rest is nobody's.
    static func find(_ path: String) -> LogTail? {
        let size = Int(clamping: Files.size(path))
        guard size > headBytes, let file = try? Files.openToRead(path) else { return nil }
        var head = [UInt8](repeating: 0, count: headBytes)
        guard Descriptor.read(file.raw, at: 0, into: &head) else { return nil }
        let (magic, page) = (PageFile.number(head, 0), PageFile.number(head, 8))
        var sum = LogSum(isHighFirst: magic & 1 == 1)
        sum.add(head, 0..<24)
        guard magic | 1 == 0x377f_0683, (512...65_536).contains(page), page & (page - 1) == 0,
            sum.agrees(with: head, at: 24)
        else { return LogTail(start: 0, end: size, commits: 0) }
        var tail = LogTail(start: headBytes, end: headBytes, commits: 0)
        var frame = [UInt8](repeating: 0, count: frameHeadBytes + page)
        var at = headBytes
        while at + frame.count <= size, Descriptor.read(file.raw, at: at, into: &frame),
            frame[8..<16].elementsEqual(head[16..<24])
        {
            sum.add(frame, 0..<8)
            sum.add(frame, frameHeadBytes..<frame.count)
            guard sum.agrees(with: frame, at: 16) else { break }
            at += frame.count
            if PageFile.number(frame, 4) != 0 { tail.start = at }
        }
        tail.end = tail.start
        // Whatever of this run comes now is cut off by a frame that is broken or not whole.
        var frameHead = [UInt8](repeating: 0, count: frameHeadBytes)
        while at + frameHeadBytes <= size, Descriptor.read(file.raw, at: at, into: &frameHead) {
            if frameHead[8..<16].elementsEqual(head[16..<24]) {
                tail.end = min(size, at + frame.count)
                if PageFile.number(frameHead, 4) != 0 { tail.commits += 1 }
            }
            at += frame.count
        }
        return tail.end > tail.start ? tail : nil
    }
}

/// The checksum of a log's frames: two sums over words, each frame's going on from the one before.
private struct LogSum {
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isHighFirst: Bool

    init(isHighFirst: Bool) {
        self.isHighFirst = isHighFirst
    }

    /// Takes in bytes; their number is a multiple of 8.
    mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
        bytes.withUnsafeBytes { bytes in
            for at in stride(from: range.lowerBound, to: range.upperBound - 7, by: 8) {
                var low = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
                var high = bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
                low = isHighFirst ? UInt32(bigEndian: low) : UInt32(littleEndian: low)
                high = isHighFirst ? UInt32(bigEndian: high) : UInt32(littleEndian: high)
                first = first &+ low &+ second
                second = second &+ high &+ first
            }
        }
    }

    func agrees(with bytes: [UInt8], at place: Int) -> Bool {
        PageFile.number(bytes, place) == Int(first)
            && PageFile.number(bytes, place + 4) == Int(second)
    }
}
