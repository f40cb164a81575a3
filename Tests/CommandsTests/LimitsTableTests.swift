import LinuxIO
import Testing

@testable import Commands

/// `intel status` shows every limit of the product, under its name in the code.
@Suite struct LimitsTableTests {
    @Test func everyLimitOfTheCodeIsInTheTable() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let bytes = try Files.contents("/" + root + "/Sources/Telemetry/Limits.swift")
        let shown = Set(LimitsTable.all.map(\.name))
        #expect(shown.count == LimitsTable.all.count)
        var count = 0
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let start = line.firstRange(of: "static let ") else { continue }
            let name = Self.snake(line[start.upperBound...].prefix { $0.isLetter || $0.isNumber })
            #expect(shown.contains(name) || shown.contains(name + "_ns"), "\(name)")
            count += 1
        }
        #expect(count == shown.count, "one of the table is no limit")
    }

    private static func snake(_ name: Substring) -> String {
        name.reduce(into: "") { out, letter in
            out += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }
}
