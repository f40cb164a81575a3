internal import Basics
internal import NotifyProtocol

/// The answer to one request, written while its operations are applied.
///
/// A quiet request that does not fail costs nothing: results are written from the first failure on,
/// with those before it put in then.
struct AnswerWriter {
    /// Bytes of a body; pages look after themselves, and leave half of the frame.
    private static let bodyMax = 128

    private var writer: ByteWriter
    private let isQuiet: Bool
    private var isRecording: Bool
    private var hasFailed = false
    private var count = 0
    private let header: Frames.Header

    init(_ room: ByteWriter, _ request: Frames.Header) {
        writer = room
        isQuiet = request.isQuiet
        isRecording = false
        header = Frames.Header(.answer, count: Int(request.count), serial: request.serial)
        if !isQuiet { record() }
    }

    private mutating func record() {
        guard !isRecording else { return }
        isRecording = true
        writer.reset()
        header.append(to: &writer)
        for _ in 0..<count { append(.ok) }
    }

    private mutating func append(_ status: NotifyStatus) {
        writer.u32(status.rawValue)
        writer.u32(8)
    }

    /// Adds a result without a body.
    @inline(__always)
    mutating func add(_ status: NotifyStatus) {
        if status != .ok {
            hasFailed = true
            record()
        }
        if isRecording { append(status) }
        count += 1
    }

    /// Adds a result whose body `perform` writes; of a refused one only a conflict has a body.
    ///
    /// Without room for the body it is not done: `overQuota`. Nil from `perform` says that it is
    /// not at its end: nothing is added.
    mutating func add(_ perform: (inout ByteWriter) -> NotifyStatus?) -> NotifyStatus? {
        record()
        let rest = (Int(header.count) - count) * 8
        guard writer.count + rest + Self.bodyMax <= Frames.bytesMax else {
            add(.overQuota)
            return .overQuota
        }
        let start = writer.count
        append(.ok)
        guard let status = perform(&writer) else {
            writer.truncate(to: start)
            return nil
        }
        if status != .ok {
            hasFailed = true
            if status != .conflict { writer.truncate(to: start + 8) }
        }
        writer.patch(u32: status.rawValue, at: start)
        writer.patch(u32: UInt32(writer.count - start), at: start + 4)
        count += 1
        return status
    }

    /// True if it is to be sent.
    var isNeeded: Bool { !isQuiet || hasFailed }

    /// The finished frame, moved out.
    mutating func finish() -> ByteWriter {
        if isRecording { Frames.seal(&writer) }
        let finished = writer
        writer = ByteWriter()
        return finished
    }
}
