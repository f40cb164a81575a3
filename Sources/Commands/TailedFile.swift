internal import LinuxIO
internal import Telemetry

/// One opened file that is read as it grows, whatever its name has become.
final class TailedFile {
    /// What a read has found.
    enum Step {
        /// Bytes, so many; they are in the splitter.
        case bytes(UInt64)
        /// Nothing new.
        case end
        /// The file was cut, or begun anew, under our hands: reading begins at its start.
        case restarted
    }

    /// A piece that is read at once: one file never keeps the others waiting for long.
    static let chunkBytes = 64 << 10
    /// Bytes before the position that are read again each time: where they have changed, the file
    /// is not the one that was read, even if it has grown past the position again.
    static let overlapBytesMax = 256

    let identity: FileIdentity
    /// Its watch, where it has one.
    var watch: Int32?
    /// Lines that were read and not yet sent.
    var splitter = LineSplitter(lineBytesMax: Limits.messageBytesMax)
    /// It cannot be read, which was told.
    var isBroken = false
    /// Boot clock, ns, of the last look that found something.
    private(set) var lastNews: UInt64
    /// Reading stops here; nil while it is followed.
    private var limit: UInt64?

    private let file: FileDescriptor
    private(set) var position: UInt64 = 0
    /// The last bytes before `position`.
    private var overlap: [UInt8] = []

    /// Opens what `path` leads to; nil for what is no plain file, which could block for ever.
    init?(_ path: String) throws(SystemError) {
        if let status = FileStatus(path), !status.isRegular { return nil }
        let opened = try Files.openToRead(path)
        guard let status = FileStatus(opened: opened.raw) else { throw SystemError("open", path) }
        file = opened
        identity = status.identity
        lastNews = Clock.system.boot()
    }

    /// The descriptor; open as long as this object lives.
    var raw: Int32 { file.raw }

    /// Bytes that have not been read, as far as they are wanted.
    var unreadBytes: UInt64 {
        if isBroken { return 0 }
        let end = limit ?? FileStatus(opened: file.raw)?.size ?? 0
        return end > position ? end - position : 0
    }

    /// True once something was written to it.
    var hasData: Bool {
        position > 0 || (FileStatus(opened: file.raw)?.size ?? 0) > 0
    }

    /// True while some name leads to it.
    var hasName: Bool { FileStatus(opened: file.raw)?.hasName ?? false }

    /// From now on only what is in it already is read.
    func limitToWhatIsThere() {
        limit = FileStatus(opened: file.raw)?.size ?? position
    }

    /// Reads the next piece.
    ///
    /// One call reads the bytes before the position and those after it, so that it cannot happen
    /// that the file is changed between looking and reading.
    func read(_ chunk: inout [UInt8]) throws(SystemError) -> Step {
        if let limit, position >= limit { return .end }
        let known = overlap.count
        let from = position - UInt64(known)
        let count = try Descriptor.readSome(file.raw, at: from, into: &chunk)
        guard count >= known, chunk[..<known].elementsEqual(overlap) else {
            position = 0
            overlap = []
            if limit != nil { limitToWhatIsThere() }
            lastNews = Clock.system.boot()
            return .restarted
        }
        if count == known { return .end }
        splitter.feed(chunk[known..<count])
        position += UInt64(count - known)
        overlap = Array(chunk[max(0, count - Self.overlapBytesMax)..<count])
        lastNews = Clock.system.boot()
        return .bytes(UInt64(count - known))
    }
}
