import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

@Suite struct ValueTests {
    @Test("A1: every status has Darwin's number")
    func numbers() {
        let all: [NotifyStatus] = [
            .ok, .invalidName, .invalidToken, .invalidPort, .invalidFile, .invalidSignal,
            .invalidRequest, .notAuthorized, .disabled, .serverNotFound, .nullInput,
        ]
        #expect(all.map(\.rawValue) == Array(0...10))
        #expect(NotifyStatus.failed.rawValue == 1_000_000)
    }

    @Test("A3, F5: a name over 511 bytes is refused in every call, never cut; 511 bytes are fine")
    func names() throws {
        let bus = try Bus()
        let client = try bus.client()
        let long = String(repeating: "n", count: 512)
        for name in [long, "a\0b"] {
            #expect(throws: NotifyStatus.invalidName) { try client.post(name) }
            #expect(throws: NotifyStatus.invalidName) { try client.postOneWay(name) }
            #expect(throws: NotifyStatus.invalidName) { try client.registerCheck(name) }
            #expect(throws: NotifyStatus.invalidName) { try client.registerSignal(name, 10) }
            #expect(throws: NotifyStatus.invalidName) { try client.registerFileDescriptor(name) }
            #expect(throws: NotifyStatus.invalidName) { try client.registerHandler(name) { _ in } }
        }
        let other = try bus.client()
        let token = try other.registerCheck(String(long.dropLast()))
        _ = try other.check(token)
        try other.post(String(repeating: "n", count: 510) + "m")
        #expect(try !other.check(token))
        try other.post(String(long.dropLast()))
        #expect(try other.check(token))
    }

    @Test("A5: a token that is none is invalid in every call")
    func tokens() throws {
        let bus = try Bus()
        let client = try bus.client()
        let cancelled = try client.registerCheck("a5")
        #expect(client.isValid(cancelled))
        try client.cancel(cancelled)
        for wrong in [cancelled, -1, 0, 12_345, .max] as [NotifyToken] {
            #expect(!client.isValid(wrong))
            #expect(throws: NotifyStatus.invalidToken) { try client.check(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.peek(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.state(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.setState(wrong, 1) }
            #expect(throws: NotifyStatus.invalidToken) { try client.post(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.suspend(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.resume(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.cancel(wrong) }
            #expect(throws: NotifyStatus.invalidToken) { try client.monitorFile(wrong, "/tmp/a") }
        }
    }

    @Test("A6: a descriptor that this client has not made cannot be shared")
    func descriptors() throws {
        let bus = try Bus()
        let client = try bus.client()
        let ends = try Descriptor.pipe(nonBlockingWrite: false)
        for wrong in [ends.read, -1, 9999] as [Int32] {
            #expect(throws: NotifyStatus.invalidFile) {
                try client.registerFileDescriptor("a6", reuse: wrong)
            }
        }
        Descriptor.close(ends.read)
        Descriptor.close(ends.write)
    }

    @Test("disabled calls say so; enabled again, tokens and states are as they were")
    func disabled() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("disable")
        let own = try client.registerCheck("self.disable")
        try client.setState(token, 123_454_321)
        client.isEnabled = false
        #expect(throws: NotifyStatus.disabled) { try client.registerCheck("other") }
        #expect(throws: NotifyStatus.disabled) { try client.state(token) }
        #expect(throws: NotifyStatus.disabled) { try client.setState(token, 1) }
        #expect(throws: NotifyStatus.disabled) { try client.post("disable") }
        #expect(throws: NotifyStatus.disabled) {
            try client.compareAndSet(token, number: 0, state: 1)
        }
        #expect(throws: NotifyStatus.disabled) { try client.who(prefix: "") }
        #expect(throws: NotifyStatus.disabled) { try client.connections() }
        #expect(throws: NotifyStatus.invalidToken) { try client.state(77) }
        try client.setState(own, 4)
        client.isEnabled = true
        #expect(try client.state(token) == 123_454_321)
        #expect(client.isValid(token))
        try client.cancel(token)
        #expect(!client.isValid(token))
    }
}
