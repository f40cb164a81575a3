import Basics
import NotifyProtocol

/// Frames by hand, for connections that are not a `NotifyClient`.
enum RawFrames {
    static let hello: [UInt8] = {
        var writer = ByteWriter()
        Frames.Header(.hello, count: 0, serial: 0).append(to: &writer)
        writer.u32(Frames.magic)
        writer.u32(Frames.version)
        Frames.seal(&writer)
        return writer.bytes
    }()

    static func register(_ name: String, token: UInt32) -> [UInt8] {
        request(.register(Registration(token: token, name: name, delivers: true)))
    }

    static func claim(_ name: String, will: UInt64, linger: UInt32) -> [UInt8] {
        var wanted = Registration(token: 1, name: name)
        wanted.claims = true
        wanted.will = will
        wanted.linger = linger
        return request(.register(wanted))
    }

    static func request(_ operation: Operation) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(.request, count: 1, serial: 1).append(to: &writer)
        operation.append(to: &writer)
        Frames.seal(&writer)
        return writer.bytes
    }

    /// The highest state in an events frame; 0 for any other frame.
    static func lastState(_ frame: [UInt8]) -> UInt64 {
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
