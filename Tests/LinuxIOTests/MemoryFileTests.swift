import Glibc
import LinuxIO
import Testing

@Suite struct MemoryFileTests {
    private static let size = 16 << 10

    @Test func viewSeesWrites() throws {
        let memory = try SealedMemory(name: "test", size: Self.size)
        let view = try MemoryView(size: Self.size)
        #expect(view.load(8) == 0)
        try view.map(memory.file.raw)
        let base = try #require(memory.bytes.baseAddress)
        SharedWords.store(0x0102_0304_0506_0708, at: base + 8)
        SharedWords.fence()
        #expect(view.load(8) == 0x0102_0304_0506_0708)
        #expect(SharedWords.load(UnsafeRawPointer(base) + 8) == view.load(8))
        #expect(Array(view.bytes[8..<16]) == [8, 7, 6, 5, 4, 3, 2, 1])
        memory.clear(8..<12)
        #expect(Array(view.bytes[8..<16]) == [0, 0, 0, 0, 4, 3, 2, 1])
    }

    @Test func viewOutlivesItsFileAndTakesAnother() throws {
        let view = try MemoryView(size: Self.size)
        let address = view.bytes.baseAddress
        for number in 1...3 as ClosedRange<UInt64> {
            let memory = try SealedMemory(name: "test", size: Self.size)
            try view.map(memory.file.raw)
            SharedWords.store(number, at: try #require(memory.bytes.baseAddress))
            #expect(view.load(0) == number)
        }
        #expect(view.load(0) == 3)
        #expect(view.bytes.baseAddress == address)
    }

    @Test func viewRefusesAShorterFile() throws {
        let memory = try SealedMemory(name: "test", size: Self.size / 2)
        let view = try MemoryView(size: Self.size)
        #expect(throws: SystemError.self) { try view.map(memory.file.raw) }
        #expect(throws: SystemError.self) { try view.map(-1) }
        #expect(view.load(0) == 0)
    }

    @Test func cannotBeWrittenByOthers() throws {
        let memory = try SealedMemory(name: "test", size: Self.size)
        memory.bytes[0] = 7
        let raw = memory.file.raw
        #expect(refusesToMap(raw))
        #expect(pwrite(raw, [1], 1, 0) < 0)
        #expect(ftruncate(raw, 0) < 0)
        #expect(ftruncate(raw, Self.size * 2) < 0)
        #expect(posix_fallocate(raw, 0, Self.size * 2) != 0)
        // The descriptor may open again; what it leads to stays as it is.
        let reopened = open("/proc/self/fd/\(raw)", O_RDWR | O_CLOEXEC)
        if reopened >= 0 {
            #expect(refusesToMap(reopened))
            #expect(pwrite(reopened, [1], 1, 0) < 0)
            close(reopened)
        }
        #expect(memory.bytes[0] == 7)
    }

    @Test func readOnlyMappingStaysSo() throws {
        let memory = try SealedMemory(name: "test", size: Self.size)
        let base = mmap(nil, Self.size, PROT_READ, MAP_SHARED, memory.file.raw, 0)
        #expect(base != MAP_FAILED)
        #expect(mprotect(base, Self.size, PROT_READ | PROT_WRITE) < 0)
        munmap(base, Self.size)
    }

    @Test func searchesMemory() {
        let bytes: [UInt8] = [5, 6, 7, 6]
        let places = bytes.withUnsafeBytes { raw -> [Int?] in
            guard let base = raw.baseAddress else { return [] }
            return [(6, 4), (6, 1), (9, 4), (5, 0)].map { byte, count in
                MemorySearch.first(byte, in: base, count: count).map { $0 - base }
            }
        }
        #expect(places == [1, nil, nil, nil])
        let isEqual = bytes.withUnsafeBytes { raw -> [Bool] in
            guard let base = raw.baseAddress else { return [] }
            return [base + 3, base + 2].map { MemorySearch.isEqual(base + 1, $0, count: 1) }
        }
        #expect(isEqual == [true, false])
    }

    @Test func wordTableKeepsEveryWord() throws {
        let table = try WordTable(count: 3000)
        #expect((0..<table.count).allSatisfy { table[$0] == 0 })
        for index in 0..<table.count { table[index] = UInt64(index) &* 0x9e37_79b9_7f4a_7c15 }
        #expect((0..<table.count).allSatisfy { table[$0] == UInt64($0) &* 0x9e37_79b9_7f4a_7c15 })
    }

    private func refusesToMap(_ descriptor: Int32) -> Bool {
        let base = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        if base != MAP_FAILED { munmap(base, Self.size) }
        return base == MAP_FAILED
    }
}
