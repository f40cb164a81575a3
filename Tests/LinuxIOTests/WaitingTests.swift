import LinuxIO
import Testing

@Suite struct WaitingTests {
    private func ready(_ poller: inout Poller, _ timeout: Int32 = 0) throws -> [UInt64] {
        var tags: [UInt64] = []
        try poller.wait(timeout: timeout) { tags.append($0.tag) }
        return tags.sorted()
    }

    @Test func ringsMerge() throws {
        let wake = try Wake()
        #expect(!wake.hear())
        wake.ring()
        wake.ring()
        #expect(wake.hear())
        #expect(!wake.hear())
    }

    @Test func waitsForARing() throws {
        let wake = try Wake()
        let before = Clock.system.boot()
        #expect(!wake.wait(nanoseconds: 20_000_000))
        #expect(Clock.system.boot() - before >= 20_000_000)
        let thread = try OwnedThread("ringer") { wake.ring() }
        #expect(wake.wait(nanoseconds: 10 * second))
        thread.join()
    }

    @Test func tellsWhichDescriptorIsReady() throws {
        var poller = try Poller()
        let wakes = [try Wake(), try Wake(), try Wake()]
        for (index, wake) in wakes.enumerated() {
            try poller.add(wake.descriptor, tag: UInt64(index) << 40)
        }
        #expect(try ready(&poller) == [])
        wakes[0].ring()
        wakes[2].ring()
        #expect(try ready(&poller, 1000) == [0, 2 << 40])
        // Level-triggered: told again until it is heard.
        wakes[0].hear()
        #expect(try ready(&poller) == [2 << 40])
        poller.remove(wakes[2].descriptor)
        #expect(try ready(&poller) == [])
    }

    @Test func seesRoomToWriteAndTheEnd() throws {
        var poller = try Poller()
        let pipe = try Descriptor.pipe(nonBlockingWrite: true)
        try poller.add(pipe.read, tag: 1, for: .readable)
        try poller.add(pipe.write, tag: 2, for: .writable)
        #expect(try ready(&poller) == [2])
        let chunk = [UInt8](repeating: 0, count: 4096)
        while (try? Descriptor.write(pipe.write, chunk)) != nil {}
        #expect(try ready(&poller) == [1])
        try poller.modify(pipe.write, tag: 3, for: [])
        poller.remove(pipe.read)
        Descriptor.close(pipe.read)
        var readiness: Poller.Readiness = []
        try poller.wait(timeout: 1000) { if $0.tag == 3 { readiness = $0.readiness } }
        #expect(!readiness.isDisjoint(with: .closed))
        poller.remove(pipe.write)
        Descriptor.close(pipe.write)
    }

    @Test func triesToWriteAndWaits() throws {
        let pipe = try Descriptor.pipe(nonBlockingWrite: true)
        let before = Clock.system.boot()
        Descriptor.wait(readable: pipe.read, milliseconds: 20)
        #expect(Clock.system.boot() - before >= 19_000_000)
        let chunk = [UInt8](repeating: 0, count: 4096)
        #expect(Descriptor.tryWrite(pipe.write, chunk))
        while Descriptor.tryWrite(pipe.write, chunk) {}
        // Both come back at once: the one is readable, and nobody waits for the other.
        Descriptor.wait(readable: pipe.read, writable: [pipe.write], milliseconds: 10_000)
        Descriptor.close(pipe.read)
        Descriptor.close(pipe.write)
    }

    @Test func refusesWhatItCannotWatch() throws {
        let poller = try Poller()
        let wake = try Wake()
        #expect(throws: SystemError.self) { try poller.add(-1, tag: 0) }
        #expect(throws: SystemError.self) { try poller.modify(wake.descriptor, tag: 0, for: []) }
        try poller.add(wake.descriptor, tag: 0)
        #expect(throws: SystemError.self) { try poller.add(wake.descriptor, tag: 0) }
    }

    @Test func firesATimer() throws {
        var poller = try Poller()
        let timer = try DeadlineTimer()
        try poller.add(timer.descriptor, tag: 9)
        let before = Clock.system.boot()
        timer.arm(after: 10_000_000)
        #expect(try ready(&poller, 10_000) == [9])
        #expect(Clock.system.boot() - before >= 10_000_000)
        let heard = [timer.hear(), timer.hear()]
        #expect(heard == [true, false])
        timer.arm(after: 1, every: 1_000_000)
        for _ in 0..<3 {
            #expect(try ready(&poller, 10_000) == [9])
            timer.hear()
        }
        timer.disarm()
        timer.hear()
        #expect(try ready(&poller, 20) == [])
    }
}
