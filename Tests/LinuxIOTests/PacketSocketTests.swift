import LinuxIO
import Testing

/// What one `receive` brought, as a value.
private struct Received: Equatable {
    var bytes: [UInt8] = []
    var descriptors: [Int32] = []
    var isTruncated = false
}

/// A listener in a folder of its own, and both ends of one connection.
private final class Connection {
    let folder: Temporary
    let listener: PacketSocket
    let near: PacketSocket
    let far: PacketSocket

    init() throws {
        folder = try Temporary()
        let path = folder.path + "/s"
        listener = try PacketSocket.listen(at: path, mode: 0o600)
        near = try PacketSocket.connect(to: path)
        guard let accepted = try listener.accept() else {
            throw SystemError("accept", path, code: 0)
        }
        far = accepted
    }

    func sendNear(_ bytes: [UInt8], _ descriptors: [Int32] = []) throws {
        try near.send(bytes, descriptors: descriptors)
    }

    func sendFar(_ bytes: [UInt8]) throws {
        try far.send(bytes)
    }

    func atNear() throws -> Received {
        try Self.receive(near, room: 64, waiting: true)
    }

    func atFar(room: Int = 64, waiting: Bool = true) throws -> Received {
        try Self.receive(far, room: room, waiting: waiting)
    }

    func hasRoom(milliseconds: Int32) -> Bool {
        near.waitWritable(milliseconds: milliseconds)
    }

    private static func receive(
        _ socket: borrowing PacketSocket,
        room: Int,
        waiting: Bool
    ) throws -> Received {
        var buffer = [UInt8](repeating: 0, count: room)
        let packet = try socket.receive(into: &buffer, waiting: waiting)
        return Received(
            bytes: Array(buffer[..<min(packet.count, room)]),
            descriptors: packet.descriptors,
            isTruncated: packet.isTruncated
        )
    }
}

@Suite struct PacketSocketTests {
    @Test func keepsPacketBounds() throws {
        let connection = try Connection()
        try connection.sendNear([1, 2, 3])
        try connection.sendNear([4])
        #expect(try connection.atFar() == Received(bytes: [1, 2, 3]))
        #expect(try connection.atFar() == Received(bytes: [4]))
        try connection.sendFar([5])
        #expect(try connection.atNear() == Received(bytes: [5]))
    }

    @Test func saysWhenThereIsNothing() throws {
        let connection = try Connection()
        let error = #expect(throws: SystemError.self) {
            try connection.atFar(waiting: false)
        }
        #expect(error?.wouldBlock == true)
        if try connection.listener.accept() != nil { Issue.record("a second connection") }
    }

    @Test func saysWhenThereIsNoRoom() throws {
        let connection = try Connection()
        var failure: SystemError?
        var sent = 0
        while failure == nil, sent < 1_000_000 {
            do {
                try connection.sendNear([1])
                sent += 1
            } catch {
                failure = error as? SystemError
            }
        }
        #expect(failure?.wouldBlock == true)
        #expect(!connection.hasRoom(milliseconds: 0))
        for _ in 0..<sent { _ = try connection.atFar(waiting: false) }
        #expect(connection.hasRoom(milliseconds: 1000))
    }

    @Test func knowsWhoIsThere() throws {
        let connection = try Connection()
        for credentials in [
            try connection.far.peerCredentials(), try connection.near.peerCredentials(),
        ] {
            #expect(credentials.pid == Environment.pid)
            #expect(credentials.uid == Environment.uid)
        }
    }

    @Test func passesDescriptors() throws {
        let connection = try Connection()
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        try connection.sendNear([7], [pipe.write])
        Descriptor.close(pipe.write)
        let came = try connection.atFar()
        #expect(came.bytes == [7] && came.descriptors.count == 1 && !came.isTruncated)
        for descriptor in came.descriptors {
            try Descriptor.write(descriptor, [42])
            Descriptor.close(descriptor)
        }
        var chunk = [UInt8](repeating: 0, count: 8)
        #expect(try Descriptor.read(pipe.read, into: &chunk) == 1)
        #expect(chunk[0] == 42)
        #expect(try Descriptor.read(pipe.read, into: &chunk) == 0)
        Descriptor.close(pipe.read)
    }

    /// A stranger may send more descriptors than we take: told, and none of them stays open.
    @Test func leaksNoDescriptorBeyondItsRoom() throws {
        let connection = try Connection()
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        try connection.sendNear([1], [Int32](repeating: pipe.write, count: 6))
        Descriptor.close(pipe.write)
        let came = try connection.atFar()
        #expect(came.descriptors.count == 4 && came.isTruncated)
        for descriptor in came.descriptors { Descriptor.close(descriptor) }
        // The pipe ends only when its last writing end is closed.
        var chunk = [UInt8](repeating: 0, count: 8)
        #expect(try Descriptor.read(pipe.read, into: &chunk) == 0)
        Descriptor.close(pipe.read)
        #expect(throws: SystemError.self) {
            try connection.sendNear([1], [Int32](repeating: 0, count: 9))
        }
    }

    @Test func tellsACutPacket() throws {
        let connection = try Connection()
        try connection.sendNear(Array(0..<100))
        let came = try connection.atFar(room: 10)
        #expect(came == Received(bytes: Array(0..<10), isTruncated: true))
        try connection.sendNear([9])
        #expect(try connection.atFar(room: 10) == Received(bytes: [9]))
    }

    @Test func seesTheEnd() throws {
        let connection = try Connection()
        try connection.sendNear([1])
        connection.near.shutDown()
        #expect(try connection.atFar().bytes == [1])
        #expect(try connection.atFar().bytes == [])
        let error = #expect(throws: SystemError.self) { try connection.sendFar([1]) }
        #expect(error?.isNobodyThere == true)
    }

    @Test func refusesPathsThatCannotBe() throws {
        let folder = try Temporary()
        let nobody = #expect(throws: SystemError.self) {
            _ = try PacketSocket.connect(to: folder.path + "/none")
        }
        #expect(nobody?.isNobodyThere == true)
        let long = folder.path + "/" + String(repeating: "x", count: 108)
        let error = #expect(throws: SystemError.self) {
            _ = try PacketSocket.listen(at: long, mode: 0o600)
        }
        #expect(error?.description.hasPrefix("listen '\(long)'") == true)
    }
}
