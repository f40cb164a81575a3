import Basics
import LinuxIO
import Spool
import Telemetry
import Testing

@testable import Commands

/// Ten records, of which only the third holds an X.
private func ten() throws -> SampleSpool {
    let spool = try SampleSpool()
    try spool.store((1...10).map { "{\"message\":\"#\($0)\($0 == 3 ? " X" : "")\"}" })
    return spool
}

@Test func filtersCombineWithLimits() throws {
    let spool = try ten()
    let table: [([String], [String])] = [
        (["-g", "X", "-n", "1"], ["#3 X"]),
        (["-n", "2"], ["#9", "#10"]),
        (["-r", "-n", "2"], ["#10", "#9"]),
        (["-rn2"], ["#10", "#9"]),
        (["-g", "x"], ["#3 X"]),
        (["-g", "#1", "-r"], ["#10", "#1"]),
        (["-n", "all", "-g", "#1"], ["#1", "#10"]),
        (["--peer", "com.*", "--kind", "l?ne", "-n1"], ["#10"]),
        (["--peer", "other", "--peer", "*.pos", "-n1"], ["#10"]),
        (["-p", "info..debug", "-n1"], ["#10"]),
        (["-S", "@1796008808", "-U", "@1796008809"], ["#8", "#9"]),
        (["-S", "2026-11-30 03:20:09", "--utc"], ["#9", "#10"]),
        (["-U", "2026-11-30T03:20:02Z", "-r"], ["#2", "#1"]),
    ]
    for (arguments, expected) in table {
        let (status, messages) = try spool.query(arguments)
        #expect(messages == expected, "\(arguments)")
        #expect(status == 0)
    }
}

@Test func nothingFoundHasItsOwnStatus() throws {
    let spool = try ten()
    for arguments in [
        ["-g", "absent"], ["-p", "err"], ["--peer", "x"], ["-S", "@1796009000"], ["-n", "0"],
    ] {
        let (status, messages) = try spool.query(arguments)
        #expect(messages.isEmpty && status == 1, "\(arguments)")
    }
}

@Test func countsComeAsANumber() throws {
    let spool = try ten()
    #expect(try spool.run(["query", "--count"]) == (0, "10\n"))
    #expect(try spool.run(["query", "--count", "-g", "X"]) == (0, "1\n"))
    #expect(try spool.run(["query", "--count", "-n", "4"]) == (0, "4\n"))
    #expect(try spool.run(["query", "--count", "-g", "absent"]) == (1, "0\n"))
    #expect(try spool.run(["query", "--count", "-f"]).status == 2)
}

@Test func wrongUsageAndNoSpoolAreErrors() throws {
    let spool = try SampleSpool()
    #expect(try spool.run(["query"]).status == 2)
    #expect(try spool.run(["query", "-S", "2024-02-30"]).status == 2)
    #expect(try spool.run(["query", "-S", "now", "-U", "-1h"]).status == 2)
    #expect(try spool.run(["query", "-n", "x"]).status == 2)
    #expect(try spool.run(["query", "-g", "a", "-g", "b"]).status == 2)
    #expect(try spool.run(["nothing"]).status == 2)
}

@Test func printedTimesFindTheirRecord() throws {
    let spool = try SampleSpool()
    try spool.store(["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]) { number in
        SampleSpool.start + Int64(number) * 1_000_001_001
    }
    for zone in [["--utc"], []] {
        let lines = try spool.run(["query"] + zone).text.split(separator: "\n")
        try #require(lines.count == 3)
        for (index, line) in lines.enumerated() {
            let time = String(line.prefix(26))
            let until = try spool.query(["-U", time] + zone).messages
            #expect(until.count == index + 1, "\(time)")
            let since = try spool.query(["-S", time] + zone).messages
            #expect(since.count == 3 - index, "\(time)")
        }
    }
    let json = try spool.run(["query", "-o", "json", "-n1"]).text
    let time = String(json.dropFirst("{\"time\":\"".count).prefix(30))
    #expect(try spool.query(["-U", time]).messages.count == 3)
    #expect(try spool.query(["-S", time]).messages.count == 1)
}

@Test func theNulByteIsFoundAndShown() throws {
    let spool = try SampleSpool()
    try spool.store([#"{"message":"null\u0000here"}"#, "{}", "\"\"", #"{"message":""}"#])
    let found = try spool.run(["query", "-g", "null\0here", "-o", "json"]).text
    #expect(found.contains(#"null\u0000here"#))
    #expect(try spool.run(["query", "-g", "here"]).text.hasSuffix(": null\\x00here\n"))
    #expect(try spool.run(["query", "-q"]).text.split(separator: "\n").count == 4)
}

@Test func exportIsOneJSONText() throws {
    let spool = try ten()
    let (status, text) = try spool.run(["export"])
    #expect(status == 0)
    try Array(text.utf8).withUnsafeBytes { _ = try JSONScanner.validate($0) }
    #expect(text.hasPrefix("[\n{") && text.hasSuffix("}\n]\n"))
    #expect(text.split(separator: "\n").count == 12)
    let lines = try spool.run(["export", "--format", "ndjson", "-g", "#1"]).text
    #expect(lines.split(separator: "\n").count == 2)
    #expect(lines == (try spool.run(["query", "-q", "-o", "json", "-g", "#1"]).text))
    #expect(try spool.run(["export", "-g", "absent"]) == (0, "[]\n"))
    #expect(try spool.run(["export", "-g", "absent", "--format", "ndjson"]) == (0, ""))
}

@Test func anExportedFileIsWholeOrAbsent() throws {
    let spool = try ten()
    let folder = spool.folder + "/out"
    try Files.makeFolder(folder)
    let path = folder + "/history.json"
    #expect(try spool.run(["export", "-O", path]) == (0, ""))
    #expect(Files.names(in: folder) == ["history.json"])
    let first = try Files.contents(path)
    try first.withUnsafeBytes { _ = try JSONScanner.validate($0) }
    // An error leaves what was there, and nothing else.
    #expect(try spool.run(["export", "-O", path, "--spool", folder + "/none"]).status == 0)
    let failed = Program.run(["export", "-O", path, "--spool", folder + "/none"])
    #expect(failed == 2)
    #expect(try Files.contents(path) == first)
    #expect(Files.names(in: folder) == ["history.json"])
    #expect(Program.run(["export", "-O", folder + "/no/x", "--spool", spool.folder]) == 2)
}

@Test func peersLossesAndStatus() throws {
    let spool = try ten()
    #expect(try spool.run(["peers", "-q"]).text.contains("com.vendor.pos  alive"))
    #expect(try spool.run(["losses"]).status == 0)
    var state = spool.books
    state.sent = 12
    state.presence = .died
    state.holes = [Hole(sequences: 11...12, times: 5...6)]
    try spool.store(peers: [state])
    let losses = try spool.run(["losses"])
    #expect(losses.status == 1)
    #expect(losses.text.contains("missing  11-12 (2)"))
    #expect(try spool.run(["losses", "--peer", "other"]).status == 0)
    #expect(try spool.run(["peers", "-q"]) == (1, ""))
    let json = try spool.run(["peers", "-q", "--all", "-o", "json"]).text
    #expect(json.contains(#""state":"died""#))
    let status = try spool.run(["status", "-o", "json"]).text
    try Array(status.utf8).withUnsafeBytes { _ = try JSONScanner.validate($0) }
    #expect(status.contains(#""records":10"#) && status.contains(#""running":false"#))
    #expect(try spool.run(["status"]).text.contains("10 in 1 batches"))
}
