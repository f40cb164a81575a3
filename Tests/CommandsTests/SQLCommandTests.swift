import Basics
import LinuxIO
import Spool
import Telemetry
import Testing

@testable import Commands

/// Records of two levels and kinds, over two commits.
private func sample() throws -> SampleSpool {
    let spool = try SampleSpool()
    try spool.store((1...30).map { "{\"message\":\"line \($0)\",\"total\":\($0).50}" })
    try spool.store(
        (1...20).map { "{ \"id\" : \"ord_\($0)\",\n \"total\": \($0 * 10) }" },
        kind: "order.created",
        level: .error
    )
    return spool
}

@Test func rowsAreTheRecordsOfQuery() throws {
    let spool = try sample()
    let pairs: [(flags: [String], condition: String)] = [
        ([], "1"),
        (["--kind", "line"], "kind = 'line'"),
        (["--kind", "line", "--kind", "order.created"], "kind IN ('line', 'order.created')"),
        (["--kind", "ord*"], "kind GLOB 'ord*'"),
        (["--peer", "com.vendor.pos"], "peer = 'com.vendor.pos'"),
        (["-p", "err"], "priority <= 3"),
        (["-p", "info..debug"], "priority BETWEEN 6 AND 7"),
        (["-S", "@1796008810"], "time >= '2026-11-30T03:20:10'"),
        (["-U", "@1796008810"], "time_ns <= 1796008810999999999"),
        (
            ["-S", "@1796008805", "-U", "@1796008840"],
            "time BETWEEN '2026-11-30T03:20:05' AND '2026-11-30T03:20:41'"
        ),
        (["-g", "line 1"], "text MATCH 'line 1'"),
        (
            ["-g", "ord_2", "-p", "err", "--kind", "order*", "-S", "@1796008830"],
            "text MATCH 'ord_2' AND level = 'err' AND kind LIKE 'order%' AND "
                + "time_ns >= 1796008830000000000"
        ),
    ]
    for (flags, condition) in pairs {
        for (tail, order) in [
            ([], "ORDER BY time"), (["-r", "-n", "7"], "ORDER BY time DESC LIMIT 7"),
        ] {
            let query = try spool.run(["query", "-q", "-o", "json"] + flags + tail)
            let statement = "SELECT * FROM records WHERE \(condition) \(order)"
            let sql = try spool.run(["sql", "-o", "json", statement])
            #expect(sql == query, "\(statement)")
            #expect(!query.text.isEmpty)
        }
        let count = try spool.run(["query", "--count"] + flags).text
        let statement = "SELECT count(*) AS n FROM records WHERE \(condition)"
        #expect(try spool.run(["sql", "-o", "csv", statement]).text == "n\n" + count)
    }
}

@Test func formatsOfSQL() throws {
    let spool = try SampleSpool()
    let statement =
        "SELECT 1 AS n, 'a,\"b' AS t, NULL AS \"nothing\", 2.5 AS r, x'0aff' AS b, "
        + "char(27) || '[31m' AS red, '{\"a\": 1}' AS payload"
    try spool.store(["{}"])
    #expect(
        try spool.run(["sql", "-o", "csv", statement]).text
            == "n,t,nothing,r,b,red,payload\n"
            + "1,\"a,\"\"b\",,2.5,0aff,\u{1b}[31m,\"{\"\"a\"\": 1}\"\n"
    )
    #expect(
        try spool.run(["sql", "-o", "json", statement]).text
            == #"{"n":1,"t":"a,\"b","nothing":null,"r":2.5,"b":"0aff","red":"\u001b[31m","#
            + "\"payload\":{\"a\": 1}}\n"
    )
    let table = try spool.run(["sql", statement]).text
    let lines = table.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("n  t     nothing    r  b     red"))
    #expect(lines[1].hasPrefix("-  ----  -------  ---  ----  "))
    #expect(lines[2].contains(#"\x1b[31m"#) && !table.utf8.contains(0x1b))
    let many = try spool.run([
        "sql",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
            + "FROM c WHERE n < 5000) SELECT n FROM c",
    ])
    #expect(many.text.split(separator: "\n").count == 5002)
}

@Test func statusesOfSQL() throws {
    let spool = try sample()
    #expect(try spool.run(["sql", "SELECT 1"]).status == 0)
    #expect(try spool.run(["sql", "SELECT 1 WHERE 0"]).status == 1)
    #expect(try spool.run(["sql", "CREATE TABLE t AS SELECT 1; SELECT 5 AS n FROM t"]).status == 0)
    #expect(try spool.run(["sql", "SELECT nothing FROM records"]) == (2, ""))
    #expect(try spool.run(["sql", "SELECT 1 AS n; SELEC"]).text == "n\n-\n1\n")
    #expect(try spool.run(["sql", "-o", "xml", "SELECT 1"]).status == 2)
    #expect(try spool.run(["sql", "SELECT 1", "SELECT 2"]).status == 2)
    #expect(Program.run(["sql", "SELECT 1", "--spool", spool.folder + "/none"]) == 2)
    // Nothing that SQL says reaches the spool.
    #expect(try spool.run(["sql", "DELETE FROM records"]).status == 2)
    #expect(try spool.run(["sql", "DROP TABLE records"]).status == 0)
    #expect(try spool.run(["query", "--count"]).text == "50\n")
}

@Test func booksAreTablesToo() throws {
    let spool = try sample()
    var state = spool.books
    state.sent = 53
    state.holes = [Hole(sequences: 51...52, times: 5...6)]
    state.dropped = 1
    let loss = Loss(
        instance: state.instance,
        sequences: 53...53,
        reason: "sender queue full",
        times: 7...8
    )
    try spool.store(peers: [state], losses: [loss])
    let peers = try spool.run(["sql", "-o", "json", "SELECT * FROM peers"])
    let shown = try spool.run(["peers", "-q", "-a", "-o", "json"])
    #expect(peers == shown)
    let losses = try spool.run(
        ["sql", "-o", "csv", "SELECT what, first, last, count, reason FROM losses ORDER BY first"]
    )
    #expect(
        losses.text == """
            what,first,last,count,reason
            missing,51,52,2,never arrived
            dropped,53,53,1,sender queue full

            """
    )
    let batches = "SELECT sum(records) AS n, count(*) AS b, count(error) AS e FROM batches"
    #expect(try spool.run(["sql", "-o", "csv", batches]).text == "n,b,e\n50,2,0\n")
    #expect(try spool.run(["sql", "SELECT * FROM segments"]) == (1, ""))
}

@Test func linesAreEdited() {
    let table: [(keys: String, line: String)] = [
        ("abc\r", "abc"), ("ac\u{1b}[Db\r", "abc"), ("bc\u{1}a\r", "abc"), ("abx\u{7f}c\r", "abc"),
        ("xabc\u{1}\u{1b}[3~\r", "abc"), ("abc xyz\u{17}\u{7f}\r", "abc"), ("x\u{15}abc\r", "abc"),
        ("abcx\u{2}\u{b}\r", "abc"), ("é漢\u{1b}[D\u{7f}\r", "漢"), ("\u{1b}[A\r", "second"),
        ("\u{10}\u{10}\r", "first"), ("new\u{1b}[A\u{1b}[B\r", "new"), ("a\u{1b}[99;9Rb\r", "ab"),
        ("\u{1b}OHab\u{1b}OF\r", "ab"), ("\u{1b}[5D\u{1b}[H\u{7f}a\r", "a"),
    ]
    for (keys, line) in table {
        var editor = LineEditor(history: ["first", "second"])
        var last: LineEditor.Step?
        for byte in keys.utf8 { last = editor.take(byte) }
        #expect(last == .entered(line), "\(keys.debugDescription)")
    }
    var editor = LineEditor(history: [])
    #expect(editor.take(4) == .ended)
    #expect(editor.take(0x61) == .edited && editor.take(3) == .dropped)
    var seed: UInt64 = 7
    for _ in 0..<20_000 {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1
        _ = editor.take(UInt8(truncatingIfNeeded: seed >> 33))
        _ = editor.display(prompt: "> ", columns: Int(seed >> 60))
    }
}
