import FuzzSpool
import LinuxIO
import Testing

/// What the codec's fuzzer starts from and has found, once through the same entry (`make fuzz`).
@Suite struct CodecCorpusTests {
    private static func inputs() throws -> [(file: String, bytes: [UInt8])] {
        let root = Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
        let folder = root + "/Fuzz/corpus/codec"
        return try Files.names(in: folder).map { ($0, try Files.contents(folder + "/" + $0)) }
    }

    @Test("what the fuzzer knows is refused, or comes back as it was")
    func corpus() throws {
        let inputs = try Self.inputs()
        #expect(inputs.count >= 5)
        for (file, bytes) in inputs {
            if let wrong = CodecEntry.run(bytes) { Issue.record("\(file): \(wrong)") }
        }
    }

    @Test("damaged seeds, in every reading of them")
    func damaged() throws {
        var random = SeededGenerator(state: 11)
        for (file, bytes) in try Self.inputs() where file.utf8.count < 40 {
            for round in 0..<150 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) where damaged.count > 1 {
                    let place = Int.random(in: 1..<damaged.count, using: &random)
                    damaged[place] = UInt8.random(in: 0...255, using: &random)
                }
                if !damaged.isEmpty { damaged[0] = UInt8(round % 3) }
                if let wrong = CodecEntry.run(damaged) { Issue.record("\(file): \(wrong)") }
            }
        }
    }
}
