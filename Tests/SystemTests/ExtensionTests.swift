import LinuxIO
import Spool
import Telemetry
import TestKit
import Testing

/// `intel_spool.so` in other people's SQLite, beside an agent that writes.
@Suite struct ExtensionTests {
    /// Where `make extension` puts it: beside the folder that the tests were built in.
    static let library: String? = {
        var folder = Files.parent(of: Program.path)
        while folder != "/" {
            let path = folder + "/extension/intel_spool.so"
            if Files.exists(path) { return path }
            folder = Files.parent(of: folder)
        }
        return nil
    }()

    private static func find(_ programs: [String]) -> String? {
        programs.first { Files.exists($0) }
    }

    private static let shell = find(["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"])
    /// Not whatever python is first on the path: some are built without loadable extensions.
    private static let python = find(["/usr/bin/python3", "/usr/local/bin/python3"])
    /// From the path, or where INTEL_DATASETTE says.
    private static let datasette: String? = {
        if let given = Environment["INTEL_DATASETTE"] { return given }
        let folders = (Environment["PATH"] ?? "").split(separator: ":")
        return find(folders.map { $0 + "/datasette" })
    }()

    /// A library that is missing is a failure, a program of somebody else's a skip, told aloud.
    private func missing(_ program: String?, _ name: String) throws -> Bool {
        try #require(Self.library != nil, "intel_spool.so is not built: run 'make extension'")
        if program != nil { return false }
        StandardError.line("SKIPPED: \(name) is not installed: the extension is not tested in it")
        return true
    }

    private func run(
        _ program: String,
        _ arguments: [String],
        _ folder: TemporaryFolder
    ) throws -> (status: Int32, text: String) {
        let path = folder.file("out")
        let error = try Files.create(folder.file("err"))
        let output = try Files.create(path)
        var child = try Child(program, arguments, output: output.raw, error: error.raw)
        if !eventually(100, { child.poll() != nil }) {
            child.signal(9)
            return (-1, "\(program) did not end")
        }
        guard case .exited(let status) = child.wait() else { return (-1, "") }
        let text = try Files.contents(path) + Files.contents(folder.file("err"))
        return (status, String(decoding: text, as: UTF8.self))
    }

    private func station() throws -> Station {
        let station = try Station()
        try station.startAgent()
        let lines = (1...500).map { "{\"n\":\($0),\"total\":\($0 % 90)}\n" }.joined()
        let sent = try station.run(["send", "--as", "com.test.pos"], input: Array(lines.utf8))
        #expect(sent.status == 0)
        return station
    }

    @Test("the sqlite3 shell loads it and reads what intel query reads")
    func sqliteShell() throws {
        guard try !missing(Self.shell, "sqlite3"), let shell = Self.shell,
            let library = Self.library
        else { return }
        let station = try station()
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        let made = "CREATE VIRTUAL TABLE r USING intel_spool('\(spool)');"
        let counted = try run(
            shell,
            [
                ":memory:", ".load \(library)", made,
                "SELECT count(*), sum(payload ->> '$.n') FROM r WHERE peer = 'com.test.pos';",
                "SELECT count(*) FROM r('$.total') WHERE value > 40;",
                "EXPLAIN QUERY PLAN SELECT 1 FROM r WHERE peer = 'com.test.pos';",
                "CREATE VIRTUAL TABLE b USING intel_spool('\(spool)', batches);",
                "SELECT count(error) FROM b;",
            ],
            station.folder
        )
        #expect(counted.status == 0 && counted.text.hasPrefix("500|125250\n"), "\(counted.text)")
        #expect(counted.text.contains("VIRTUAL TABLE INDEX 0:peer="))
        #expect(counted.text.hasSuffix("\n0\n"))
        let wrong = try run(
            shell,
            [":memory:", ".load \(library)", "CREATE VIRTUAL TABLE r USING intel_spool('/none');"],
            station.folder
        )
        #expect(wrong.status != 0 && wrong.text.contains("no hot.db"), "\(wrong.text)")
    }

    @Test("python loads it; a cursor left in the middle stops neither agent nor checkpoint")
    func pythonModule() throws {
        guard try !missing(Self.python, "python3"), let python = Self.python,
            let library = Self.library
        else { return }
        let station = try station()
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        let script = """
            import os, sqlite3
            c = sqlite3.connect(":memory:")
            c.enable_load_extension(True)
            c.load_extension("\(library)")
            c.execute("CREATE VIRTUAL TABLE r USING intel_spool('\(spool)')")
            # The same file by the host's own hand: its locks must not be lost.
            other = sqlite3.connect("file:\(spool)/hot.db?mode=ro", uri=True)
            other.execute("BEGIN")
            before = other.execute("SELECT count(*) FROM batch").fetchone()
            half = c.execute("SELECT payload FROM r ORDER BY time")
            half.fetchone()
            counted = "SELECT count(payload) FROM r WHERE peer = ?"
            n = c.execute(counted, ("com.test.pos",)).fetchone()
            d = sqlite3.connect(":memory:")
            d.enable_load_extension(True)
            d.load_extension("\(library)")
            d.execute("CREATE VIRTUAL TABLE r USING intel_spool('\(spool)', 'peers')")
            names = [row[0] for row in d.execute("SELECT peer FROM r")]
            d.close()
            own = " %d " % os.getpid()
            locks = [l for l in open("/proc/locks") if "POSIX" in l and own in l]
            try:
                c.execute("SELECT value FROM r('x')").fetchall()
                wrong = "no error"
            except sqlite3.Error as e:
                wrong = str(e)
            print(n[0], "com.test.pos" in names, wrong, len(locks) > 0)
            """
        let found = try run(python, ["-c", script], station.folder)
        #expect(
            found.text == "500 True 'x' is no path such as $.total or $.items[0].sku True\n",
            "\(found.text)"
        )
        #expect(found.status == 0)
    }

    @Test("datasette shows its rows as JSON, and the plan that is pushed down")
    func datasette() throws {
        guard try !missing(Self.datasette, "datasette (or INTEL_DATASETTE)"),
            try !missing(Self.shell, "sqlite3, to make own.db,"), let shell = Self.shell,
            let datasette = Self.datasette, let library = Self.library
        else { return }
        let station = try station()
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        let own = station.folder.file("own.db")
        let made = "CREATE VIRTUAL TABLE r USING intel_spool('\(spool)');"
        #expect(try run(shell, [own, ".load \(library)", made], station.folder).status == 0)
        func get(_ path: String) throws -> (status: Int32, text: String) {
            let arguments = [own, "--load-extension", library, "--get", path]
            return try run(datasette, arguments, station.folder)
        }
        let sum = "select+count(*)+as+n,sum(payload->>'$.n')+as+s+from+r+where+peer='com.test.pos'"
        let counted = try get("/own.json?_shape=array&sql=\(sum)")
        if counted.text.contains("does not have the ability to load SQLite extensions") {
            StandardError.line("SKIPPED: the Python of \(datasette) can load no extension")
            return
        }
        #expect(counted.status == 0, "\(counted.text)")
        #expect(counted.text.hasPrefix(#"[{"n": 500, "s": 125250}]"#), "\(counted.text)")
        let asked = "select+payload+from+r+where+peer='com.test.pos'+and+time>'2026'+limit+2"
        let plan = try get("/own.json?_shape=array&sql=explain+query+plan+\(asked)")
        #expect(plan.text.contains("VIRTUAL TABLE INDEX 0:"), "\(plan.text)")
        #expect(plan.text.contains("peer=") && plan.text.contains("time>"), "\(plan.text)")
        // A table's own page, as somebody would look at it.
        let page = try get("/own/r.json?_shape=array&_size=2&kind__exact=line&_sort_desc=store")
        #expect(page.text.contains(#"\"n\":500,\"total\":50}"#), "\(page.text)")
        #expect(page.text.contains(#""peer": "com.test.pos", "kind": "line""#))
    }

    @Test("it lets its entry be seen and nothing else, and has no SQLite of its own")
    func symbols() throws {
        let library = try #require(Self.library, "run 'make extension'")
        guard let nm = Self.find(["/usr/bin/nm"]) else {
            StandardError.line("SKIPPED: nm is not installed")
            return
        }
        let folder = try TemporaryFolder()
        let shown = try run(nm, ["-D", library], folder)
        let lines = shown.text.split(separator: "\n")
        let ours = lines.filter { $0.contains("sqlite3_") }
        #expect(ours.count == 1 && ours.first?.hasSuffix(" T sqlite3_intelspool_init") == true)
        #expect(lines.filter { $0.contains(" T ") }.count == 1)
    }
}
