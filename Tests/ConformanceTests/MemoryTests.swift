import Glibc
import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// What a client can do to the memory of states and pools: read it.
@Suite struct MemoryTests {
    private static let bytes = 1 << 16

    /// Everything that would change the file behind a descriptor; what it names succeeded.
    static func attack(_ raw: Int32) -> [String] {
        var done: [String] = []
        func note(_ what: String, _ succeeded: Bool) { if succeeded { done.append(what) } }
        note("map writable", map(raw, PROT_READ | PROT_WRITE))
        note("map write-only", map(raw, PROT_WRITE))
        note("protect writable", protect(raw))
        note("pwrite", pwrite(raw, [UInt8](repeating: 1, count: 64), 64, 64) >= 0)
        lseek(raw, 0, SEEK_SET)
        note("write", write(raw, [UInt8](repeating: 1, count: 64), 64) >= 0)
        note("truncate", ftruncate(raw, 0) == 0)
        note("grow", ftruncate(raw, 1 << 40) == 0)
        // Keep the size and punch a hole; allocate; zero a range.
        for mode in [3, 0x10, 0x11] as [Int32] {
            note("fallocate \(mode)", punch(raw, mode))
        }
        // Further seals would stop the broker itself: sealing is over.
        note("seal", fcntl(raw, 1033, 0x8) == 0)
        return done
    }

    /// fallocate(2), which the Glibc module does not show.
    private static func punch(_ raw: Int32, _ mode: Int32) -> Bool {
        typealias Call = @convention(c) (Int32, Int32, Int, Int) -> Int32
        guard let found = dlsym(nil, "fallocate") else { return true }
        return unsafeBitCast(found, to: Call.self)(raw, mode, 0, 4096) == 0
    }

    private static func map(_ raw: Int32, _ protection: Int32) -> Bool {
        let base = mmap(nil, bytes, protection, MAP_SHARED, raw, 0)
        guard let base, base != MAP_FAILED else { return false }
        munmap(base, bytes)
        return true
    }

    private static func protect(_ raw: Int32) -> Bool {
        let base = mmap(nil, bytes, PROT_READ, MAP_SHARED, raw, 0)
        guard let base, base != MAP_FAILED else { return false }
        defer { munmap(base, bytes) }
        return mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0
    }

    /// Attacks the file as it came, and as it opens again through /proc.
    static func attackInEveryWay(_ raw: Int32) -> [String] {
        var done = attack(raw)
        for flags in [O_RDWR, O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_APPEND] {
            let again = open("/proc/self/fd/\(raw)", flags | O_CLOEXEC)
            // It may open; what it leads to stays as it is.
            guard again >= 0 else { continue }
            done += attack(again).map { "opened with \(flags): \($0)" }
            close(again)
        }
        return done
    }

    @Test("a client cannot write the memory of the bus, whichever way it opens or maps it")
    func readOnly() throws {
        let bus = try Bus()
        let client = try bus.client()
        let token = try client.registerCheck("memory")
        try client.setState(token, 0x1234)
        _ = try client.check(token)
        let raw = try RawConnection(bus.path)
        #expect(raw.memory >= 0)
        #expect(Self.attackInEveryWay(raw.memory).isEmpty)
        // Nor through the broker's own descriptors, where this user may look at them at all.
        let folder = "/proc/\(bus.station.busPid)/fd"
        var found = 0
        for name in Files.names(in: folder) {
            let path = folder + "/" + name
            var buffer = [CChar](repeating: 0, count: 256)
            let count = readlink(path, &buffer, buffer.count)
            let target = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
            guard String(decoding: target, as: UTF8.self).contains("memfd") else { continue }
            let opened = open(path, O_RDWR | O_CLOEXEC)
            guard opened >= 0 else { continue }
            found += 1
            #expect(Self.attackInEveryWay(opened).isEmpty)
            close(opened)
        }
        #expect(found == 1)
        #expect(try client.state(token) == 0x1234 && !client.check(token))
        // The broker goes on writing.
        try client.setAndPost(token, 0x5678)
        #expect(try client.state(token) == 0x5678 && client.check(token))
    }

    @Test(
        "nor can another user",
        .enabled(if: Environment.uid == 0, "needs root, to become another user: NOT RUN")
    )
    func readOnlyToOthers() async {
        await #expect(processExitsWith: .success) {
            let bus = try ruledBus("")
            let client = try bus.client()
            let token = try client.registerCheck("memory")
            try client.setState(token, 0x1234)
            try UserTests.become(UserTests.nobody) {
                let raw = try RawConnection(bus.path)
                #expect(raw.memory >= 0)
                #expect(MemoryTests.attackInEveryWay(raw.memory).isEmpty)
                #expect(open("/proc/\(bus.station.busPid)/mem", O_RDWR | O_CLOEXEC) < 0)
            }
            #expect(try client.state(token) == 0x1234)
        }
    }
}
