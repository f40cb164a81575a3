import FuzzEntries
import LinuxIO
import Testing

/// What the fuzzers have found worth keeping, once through the same entries (see `make fuzz`).
@Suite struct CorpusTests {
    private static func inputs(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
        let root = Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
        let folder = root + "/Fuzz/corpus/" + name
        return try Files.names(in: folder).map { ($0, try Files.contents(folder + "/" + $0)) }
    }

    @Test func framesAreReadAndWrittenAsTheSame() throws {
        let inputs = try Self.inputs("frames")
        #expect(inputs.count >= 10)
        for (file, bytes) in inputs {
            if let wrong = FrameEntry.run(bytes) { Issue.record("\(file): \(wrong)") }
        }
    }

    @Test func theBrokerAgreesWithTheModel() throws {
        let inputs = try Self.inputs("broker")
        #expect(inputs.count >= 5)
        for (file, bytes) in inputs {
            if let wrong = BrokerEntry.run(bytes) { Issue.record("\(file): \(wrong)") }
        }
    }

    /// A little of what the fuzzer does, on the inputs that were written by hand.
    @Test func damagedSeedsAreTakenOrRefusedByBoth() throws {
        var random = ModelTests.Seeded(word: 0x9e37_79b9_7f4a_7c15)
        let seeds = try Self.inputs("broker").filter { $0.file.utf8.count < 40 }
        #expect(seeds.count >= 5)
        for (file, bytes) in seeds {
            for _ in 0..<100 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) where !damaged.isEmpty {
                    let place = Int.random(in: 0..<damaged.count, using: &random)
                    damaged[place] = UInt8.random(in: 0...255, using: &random)
                }
                if let wrong = BrokerEntry.run(damaged) { Issue.record("\(file): \(wrong)") }
            }
        }
    }
}
