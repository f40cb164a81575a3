internal import Basics
internal import LinuxIO

/// How far the write-ahead log has grown.
///
/// The size of its file does not tell: in steady state it is overwritten in place.
///
/// Frames of the current round carry the salts of the log's header (SQLite's file format, 4.1), so
/// reading the heads of the frames that came since the last look is enough. SQLite takes no locks
/// on the -wal file, so that opening and closing it here releases none.
struct LogGauge {
    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    private let path: String
    private var salts: [UInt8] = []
    private var pageBytes = 0
    /// Frames of this round seen so far, and how many of them at the last mark.
    private var frames = 0
    private var marked = 0

    /// Bytes of a frame: its head and a page; 0 before the log was looked at.
    var frameBytes: Int { pageBytes > 0 ? Self.frameHeaderBytes + pageBytes : 0 }

    init(directory: String) {
        path = Schema.log(directory)
    }

    /// Bytes since the last mark.
    mutating func grown() -> Int64 {
        guard let file = try? Files.openToRead(path) else { return 0 }
        var header = [UInt8](repeating: 0, count: Self.headerBytes)
        guard Descriptor.read(file.raw, at: 0, into: &header) else { return 0 }
        if Array(header[16..<24]) != salts {
            salts = Array(header[16..<24])
            pageBytes = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
            frames = 0
            marked = 0
        }
        guard pageBytes > 0 else { return 0 }
        var head = [UInt8](repeating: 0, count: 16)
        while Descriptor.read(file.raw, at: Self.headerBytes + frames * frameBytes, into: &head),
            head[8..<16].elementsEqual(salts)
        {
            frames += 1
        }
        return Int64((frames - marked) * frameBytes)
    }

    /// Growth counts from here on.
    mutating func mark() {
        marked = frames
    }
}
