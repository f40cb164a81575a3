internal import Basics
public import NotifyProtocol

/// Frames by hand, for connections that are not a `NotifyClient`.
public enum RawFrames {
    /// The first frame of a connection.
    public static let hello: [UInt8] = {
        var writer = ByteWriter()
        Frames.Header(.hello, count: 0, serial: 0).append(to: &writer)
        writer.u32(Frames.magic)
        writer.u32(Frames.version)
        Frames.seal(&writer)
        return writer.bytes
    }()

    /// Registers a name and is told of its posts.
    public static func register(_ name: String, token: UInt32) -> [UInt8] {
        request(.register(Registration(token: token, name: name, delivers: true)))
    }

    /// Claims a name as token 1.
    public static func claim(_ name: String, will: UInt64, linger: UInt32) -> [UInt8] {
        var wanted = Registration(token: 1, name: name)
        wanted.claims = true
        wanted.will = will
        wanted.linger = linger
        return request(.register(wanted))
    }

    /// One operation that is answered.
    public static func request(_ operation: Operation) -> [UInt8] { request([operation]) }

    /// Several operations; of a quiet request only failures are answered.
    public static func request(_ operations: [Operation], isQuiet: Bool = false) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(.request, count: operations.count, serial: 1, flags: isQuiet ? 1 : 0)
            .append(to: &writer)
        for operation in operations { operation.append(to: &writer) }
        Frames.seal(&writer)
        return writer.bytes
    }

    /// Writes words into the pool of a token.
    public static func poolWrite(_ token: UInt32, _ words: [UInt64]) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(.request, count: 1, serial: 1).append(to: &writer)
        Operation.appendPoolWrite(token: token, offset: 0, words: words, to: &writer)
        Frames.seal(&writer)
        return writer.bytes
    }

    /// The highest state in an events frame; 0 for any other frame.
    public static func lastState(_ frame: [UInt8]) -> UInt64 {
        frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.events.rawValue
            else { return 0 }
            var last: UInt64 = 0
            while let event = try? NotifyEvent(from: &reader) { last = max(last, event.state) }
            return last
        }
    }
}
