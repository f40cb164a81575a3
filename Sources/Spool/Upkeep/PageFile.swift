internal import LinuxIO

/// The pages of an SQLite file as bytes, without SQLite, and with what its write-ahead log has of
/// them; any of them may be damaged.
///
/// One thread owns it; it holds one page at a time.
struct PageFile: ~Copyable {
    /// Bytes of a page.
    let pageSize: Int
    /// Pages, of which the first is number 1.
    let count: Int
    private let file: FileDescriptor
    private let log: OpenLog?
    /// Where in the log the latest version of a page begins.
    private var inLog: [Int: Int] = [:]

    private static let frameHead = 24
    private static let logHead = 32

    /// Opens the file at `path`.
    ///
    /// - Parameter standard: the page size where the file does not say.
    init(_ path: String, log: String? = nil, standard: Int) throws(SystemError) {
        let opened = try Files.openToRead(path)
        var head = [UInt8](repeating: 0, count: 18)
        var size = standard
        if Descriptor.read(opened.raw, at: 0, into: &head) {
            let said = Int(head[16]) << 8 | Int(head[17])
            // 1 stands for 65,536.
            let isPowerOfTwo = said & (said - 1) == 0
            if said == 1 { size = 65_536 } else if said >= 512, isPowerOfTwo { size = said }
        }
        let frames = try Self.open(log: log)
        if let frames { inLog = Self.frames(frames.raw, size) }
        let pages = Int(clamping: Files.size(path)) / size
        // A damaged frame may name any page.
        count = max(pages, min(inLog.keys.max() ?? 0, pages + inLog.count))
        pageSize = size
        file = opened
        self.log = frames
    }

    private static func open(log path: String?) throws(SystemError) -> OpenLog? {
        guard let path, Files.size(path) > Int64(logHead) else { return nil }
        return OpenLog(file: try Files.openToRead(path))
    }

    /// Frames of the log's present run; an older run has other salts.
    private static func frames(_ log: Int32, _ size: Int) -> [Int: Int] {
        var head = [UInt8](repeating: 0, count: logHead)
        var found: [Int: Int] = [:]
        guard Descriptor.read(log, at: 0, into: &head) else { return found }
        var at = logHead
        var frame = [UInt8](repeating: 0, count: frameHead)
        while Descriptor.read(log, at: at, into: &frame) {
            guard frame[8..<16].elementsEqual(head[16..<24]) else { break }
            found[number(frame, 0)] = at + frameHead
            at += frameHead + size
        }
        return found
    }

    /// A page; nil where the file ends before it.
    func page(_ number: Int) -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        if let log, let place = inLog[number] {
            return Descriptor.read(log.raw, at: place, into: &bytes) ? bytes : nil
        }
        let isThere = Descriptor.read(file.raw, at: (number - 1) * pageSize, into: &bytes)
        return isThere ? bytes : nil
    }

    /// Four bytes, the highest first.
    static func number(_ bytes: [UInt8], _ at: Int) -> Int {
        guard at >= 0, at + 4 <= bytes.count else { return 0 }
        return Int(bytes[at]) << 24 | Int(bytes[at + 1]) << 16 | Int(bytes[at + 2]) << 8
            | Int(bytes[at + 3])
    }
}

/// A log that is open for reading.
private final class OpenLog {
    private let file: FileDescriptor
    var raw: Int32 { file.raw }

    init(file: consuming FileDescriptor) {
        self.file = file
    }
}
