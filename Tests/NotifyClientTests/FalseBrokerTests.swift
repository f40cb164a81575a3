import Basics
import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// A broker that says what none would: the client goes on without one, and does not crash.
@Suite struct FalseBrokerTests {
    private static func welcome(slots: UInt64, poolWords: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(.welcome, count: 0, serial: 0).append(to: &writer)
        writer.u64(1)
        writer.u64(7)
        writer.u64(slots)
        writer.u64(poolWords)
        Frames.seal(&writer)
        return writer.bytes
    }

    @Test(
        "a welcome with a layout beyond all limits is not believed",
        arguments: [(UInt64.max, 1), (1, UInt64.max), (1 << 62, 1 << 62)] as [(UInt64, UInt64)]
    )
    func layouts(slots: UInt64, poolWords: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("bus.sock")
        let listener = try PacketSocket.listen(at: path, mode: 0o600)
        let answer = Mailbox<NotifyStatus>(capacity: 1)
        let caller = try OwnedThread("caller") {
            do throws(NotifyStatus) {
                _ = try NotifyClient(path: path)
                _ = answer.trySend(.ok)
            } catch {
                _ = answer.trySend(error)
            }
        }
        Descriptor.wait(readable: listener.descriptor, milliseconds: 10_000)
        guard let socket = try listener.accept() else {
            Issue.record("nobody came")
            return
        }
        // Any descriptor will do: it is not mapped.
        let welcome = Self.welcome(slots: slots, poolWords: poolWords)
        try socket.send(welcome, descriptors: [listener.descriptor])
        #expect(answer.receive() == .serverNotFound)
        caller.join()
    }

    @Test func aRangeOfAPoolThatOverflowsIsRefused() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.claimPool("pool", count: 8)
        var words: [UInt64] = []
        for (start, count) in [(Int.max, 1), (1, Int.max), (Int.max, Int.max), (8, 1)] {
            #expect(throws: NotifyStatus.invalidRequest) {
                try client.readPool(token, at: start, count: count, into: &words)
            }
        }
        client.close()
    }
}
