internal import Basics
public import LinuxIO
public import NotifyProtocol

/// A connection to a broker that does as it is told: it may send anything, and never read.
public final class RawConnection {
    private let socket: PacketSocket
    /// The common memory file that came with the welcome; -1 without one.
    public private(set) var memory: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: Frames.bytesMax)

    /// Connects, and greets unless told otherwise.
    public init(_ path: String, greets: Bool = true) throws(SystemError) {
        socket = try PacketSocket.connect(to: path)
        guard greets else { return }
        try send(RawFrames.hello)
        let welcome = try socket.receive(into: &buffer, waiting: true)
        memory = welcome.descriptors.first ?? -1
    }

    deinit {
        forgetMemory()
    }

    /// Closes the memory file.
    public func forgetMemory() {
        if memory >= 0 { Descriptor.close(memory) }
        memory = -1
    }

    /// Sends bytes as one packet; without `waiting` it fails with `wouldBlock` where there is no
    /// room.
    public func send(_ bytes: [UInt8], waiting: Bool = true) throws(SystemError) {
        try socket.send(bytes, waiting: waiting)
    }

    /// The next packet; empty at the end of the connection.
    public func receive(waiting: Bool = true) throws(SystemError) -> [UInt8] {
        let packet = try socket.receive(into: &buffer, waiting: waiting)
        for descriptor in packet.descriptors { Descriptor.close(descriptor) }
        return Array(buffer.prefix(packet.count))
    }

    /// Sends operations and gives their statuses; events that come before the answer are dropped.
    public func ask(_ operations: [Operation]) throws(SystemError) -> [UInt32] {
        try send(RawFrames.request(operations))
        while true {
            let frame = try receive()
            if frame.isEmpty { return [] }
            if let statuses = Self.statuses(frame) { return statuses }
        }
    }

    /// The statuses of an answer; nil for another frame.
    private static func statuses(_ frame: [UInt8]) -> [UInt32]? {
        frame.withUnsafeBytes { bytes -> [UInt32]? in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.answer.rawValue
            else { return nil }
            var found: [UInt32] = []
            while let status = try? reader.u32(), let length = try? reader.u32() {
                found.append(status)
                _ = try? reader.raw(Int(length) - 8)
            }
            return found
        }
    }
}
