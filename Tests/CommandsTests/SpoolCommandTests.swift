import Basics
import LinuxIO
import SQLite
import Spool
import Telemetry
import TestKit
import Testing

@testable import Commands

/// `intel spool …` from the command line: results, statuses and words.
@Suite struct SpoolCommandTests {
    private func filled() throws -> SampleSpool {
        let spool = try SampleSpool()
        try spool.store((1...50).map { "{\"message\":\"order \($0)\"}" }, kind: "order")
        try spool.store((1...30).map { "{\"total\":\($0)}" }, kind: "sale")
        return spool
    }

    /// The number behind a key of a JSON text.
    private func number(_ key: String, _ json: String) -> Int? {
        guard let place = json.range(after: "\"\(key)\":") else { return nil }
        return Int(json[place...].prefix { $0.isNumber })
    }

    private func isJSON(_ text: String) -> Bool {
        Array(text.dropLast().utf8).withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
    }

    @Test func verifyTellsAndExits() throws {
        let spool = try filled()
        let sound = try spool.run(["spool", "verify"])
        #expect(sound.status == 0)
        #expect(sound.text.hasPrefix("sound: 80 records in 2 hot batches and 0 segments, "))
        let json = try spool.run(["spool", "verify", "--json"])
        #expect(json.status == 0 && isJSON(json.text))
        #expect(json.text.hasPrefix(#"{"sound":true,"records":80,"#))
        try spool.damage()
        let damaged = try spool.run(["spool", "verify", "--json"])
        #expect(damaged.status == 3 && isJSON(damaged.text))
        #expect(damaged.text.contains(#""damages":[{"subject":"batch 1","cause":""#))
        #expect(number("damaged_records", damaged.text) == 50)
        #expect(number("records", damaged.text) == 30)
    }

    @Test func damageIsToldAsOperationSubjectCauseAndCount() {
        let damage = Verification.Damage(
            subject: "segment a\u{1b}.db, batch 3",
            cause: "checksum differs",
            records: 1204
        )
        #expect(
            SpoolVerifyCommand.text(damage)
                == #"verify 'segment a\x1b.db, batch 3': checksum differs (1,204 records)"#
        )
        #expect(SpoolVerifyCommand.progress(512, 2048) == "512 B of 2.0 KB · 25 %")
        #expect(SpoolVerifyCommand.progress(0, 0) == "0 B of 0 B · 100 %")
    }

    @Test func usageByPeerAndKind() throws {
        let spool = try filled()
        let table = try spool.run(["spool", "usage"])
        #expect(table.status == 0)
        for line in ["PEER  ", "KIND  ", "com.vendor.pos       80", "order       50", "hot.db "] {
            #expect(table.text.contains(line), "\(line) is not in \(table.text)")
        }
        let json = try spool.run(["spool", "usage", "--json"])
        #expect(isJSON(json.text) && number("records", json.text) == 80)
        #expect(json.text.contains(#""kinds":[{"kind":"order","records":50,"#))
    }

    @Test func backupAndSalvage() throws {
        let spool = try filled()
        let place = try TemporaryFolder()
        let copy = place.file("backup")
        let made = try spool.run(["spool", "backup", copy])
        #expect(made.status == 0)
        #expect(made.text.hasPrefix("backed up: 80 records, 0 segments (0 linked), "))
        let again = try spool.run(["spool", "backup", copy, "--json"])
        #expect(again.status == 0 && isJSON(again.text) && number("records", again.text) == 80)
        #expect(try spool.run(["spool", "backup"]).status == 2)
        #expect(try spool.run(["spool", "backup", spool.folder]).status == 2)

        try spool.damage()
        let path = place.file("out")
        let file = try Files.create(path)
        #expect(
            Commands.Program.run(["spool", "verify", "-q", "--spool", copy], output: file.raw) == 0
        )
        try Files.replaceContents(file, with: "")
        let arguments = ["spool", "salvage", spool.folder, place.file("new"), "-q"]
        #expect(Commands.Program.run(arguments, output: file.raw) == 3)
        let text = String(decoding: try Files.contents(path), as: UTF8.self)
        #expect(text == "saved: 30 records in 1 hot batches and 0 segments\nlost: 50 records\n")
        #expect(Commands.Program.run(["spool", "salvage", spool.folder], output: file.raw) == 2)
    }

    @Test func helpAndUnknownParts() throws {
        let spool = try SampleSpool()
        for part in SpoolCommand.parts {
            let words = part.name.split(separator: " ").map(String.init)
            let help = try spool.help(words + ["--help"])
            #expect(help.contains("usage: intel \(part.name)"))
            #expect(try spool.help(["help"] + words) == help)
        }
        #expect(try spool.help(["help", "spool"]).contains("intel spool verify"))
        #expect(try spool.help(["spool", "-h"]) == spool.help(["help", "spool"]))
        #expect(Commands.Program.run(["spool"], output: -1) == 2)
        #expect(Commands.Program.run(["spool", "verfy"], output: -1) == 2)
    }

    @Test func everyFlagIsOnThePage() throws {
        let page = try Files.contents(Self.root + "/man/intel-spool.1")
        let text = String(decoding: page, as: UTF8.self)
        for part in SpoolCommand.parts {
            #expect(text.contains(".Nm \(part.name)") || text.contains("intel \(part.name)"))
            for flag in part.flags {
                #expect(text.contains("Fl -\(flag.name)"), "no --\(flag.name) of \(part.name)")
            }
        }
    }

    /// The folder of the package.
    private static var root: String {
        Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
    }
}

extension SampleSpool {
    /// Damages the blob of the first batch.
    fileprivate func damage() throws {
        let database = try Database(path: folder + "/hot.db", mode: .write)
        try database.execute("UPDATE batch SET data = zeroblob(length(data)) WHERE id = 1")
    }

    fileprivate func help(_ arguments: [String]) throws -> String {
        let path = folder + "/help"
        let file = try Files.create(path)
        #expect(Commands.Program.run(arguments, output: file.raw) == 0)
        return String(decoding: try Files.contents(path), as: UTF8.self)
    }
}

extension String {
    /// Where what follows `text` begins.
    fileprivate func range(after text: String) -> String.Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { return rest.index(rest.startIndex, offsetBy: text.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
