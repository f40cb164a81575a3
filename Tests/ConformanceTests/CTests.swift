import LinuxIO
import TestKit
import Testing

/// The same numbers through notify.h and the built library; see Tests/ConformanceC.
@Suite(.enabled(if: CLibrary.mayRun, CLibrary.advice)) struct CTests {
    @Test(
        "A1 to A6, B1 to B3, C1, C2, D1 to D5, G1 (fork) and G2 (exec) in C",
        arguments: [
            "A1", "A2", "A3", "A4", "A5", "A6", "B1", "B2", "B3", "C1", "C2", "D1", "D2", "D3",
            "D4", "D5", "G1", "G2",
        ]
    )
    func number(_ number: String) throws {
        let bus = try Bus()
        let outcome = try CLibrary.Run(number, bus: bus.path).finish()
        #expect(outcome.status == 0, "\(number): \(outcome.error)")
    }

    @Test("B9: check, get_state and peek make no system call: a filter would kill the process")
    func noSystemCall() throws {
        let bus = try Bus()
        let outcome = try CLibrary.Run("B9", bus: bus.path).finish()
        #expect(outcome.status == 0, "159 is SIGSYS: \(outcome.error)")
        #expect(outcome.output.hasPrefix("check "))
    }

    @Test("G5: without a broker every call of C returns 9 at once")
    func absent() throws {
        let folder = try TemporaryFolder()
        let outcome = try CLibrary.Run("G5", bus: folder.file("none.sock")).finish()
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test("the library stands alone, has its soname, and shows the calls of notify.h and no more")
    func symbols() throws {
        #expect(Files.exists(CLibrary.path), "\(CLibrary.advice)")
        let needed = try CLibrary.run("/usr/bin/env", ["readelf", "-d", CLibrary.path]).output
        #expect(needed.contains("soname: [libintel-notify.so.1]"))
        #expect(!needed.contains("libswift"))
        #expect(needed.contains("NODELETE"))
        let table = try CLibrary.run("/usr/bin/env", ["nm", "-D", "--defined-only", CLibrary.path])
        let shown = table.output.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count == 3, words[1] == "T" else { return nil }
            return String(words[2].prefix { $0 != "@" })
        }
        let header = try Files.contents(CLibrary.root + "/Sources/CNotify/include/notify.h")
        var declared: Set<String> = []
        for line in String(decoding: header, as: UTF8.self).split(separator: "\n") {
            guard line.contains("("), let type = line.split(separator: " ").first,
                ["uint32_t", "uint64_t", "bool", "void"].contains(type)
            else { continue }
            declared.insert(String(line.split(separator: " ")[1].prefix { $0 != "(" }))
        }
        #expect(declared.count > 20)
        #expect(Set(shown) == declared)
    }

    @Test("the example in C runs")
    func exampleInC() throws {
        let bus = try Bus()
        let folder = try TemporaryFolder()
        try CLibrary.compile(["Examples/notify.c"], to: folder.file("example"))
        let outcome = try CLibrary.run(folder.file("example"), [], bus: bus.path)
        #expect(outcome.output == "com.example.door: changed 1, state 42, token is ours 1\n")
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test("the example in Python runs")
    func exampleInPython() throws {
        let bus = try Bus()
        let example = CLibrary.root + "/Examples/notify.py"
        let outcome = try CLibrary.run("/usr/bin/env", ["python3", example], bus: bus.path)
        #expect(outcome.output == "com.example.window: changed 1, state 18446744073709551615\n")
        #expect(outcome.status == 0, "\(outcome.error)")
    }
}
