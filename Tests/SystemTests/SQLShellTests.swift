import LinuxIO
import TestKit
import Testing

/// `intel sql` as a person and as a script use it.
@Suite struct SQLShellTests {
    /// Types at a terminal and reads what comes back.
    private static let typist = """
        import os, pty, select, sys, time
        program, spool, home = sys.argv[1:]
        pid, fd = pty.fork()
        if pid == 0:
            os.environ["XDG_STATE_HOME"] = home
            os.execv(program, [program, "sql", "--spool", spool])
        seen = b""
        def wait(text, poke=None):
            global seen
            end = time.time() + 60
            while text not in seen:
                if time.time() > end:
                    sys.exit("no %r in %r" % (text, seen))
                if select.select([fd], [], [], 0.2)[0]:
                    try:
                        seen += os.read(fd, 65536)
                    except OSError:
                        break
                elif poke:
                    os.write(fd, poke)
            seen = seen[seen.find(text) + len(text):]
        wait(b"intel> ")
        os.write(fd, b"SELECT 40 +\\r")
        wait(b"  ...> ")
        os.write(fd, b"3\\x7f2;\\r")
        wait(b"42\\r")
        wait(b"intel> ")
        os.write(fd, b"\\x1b[A\\r")
        wait(b"42\\r")
        wait(b"intel> ")
        loop = b"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
        os.write(fd, loop + b"SELECT count(*) FROM c;\\r")
        wait(b"intel: interrupted", poke=b"\\x03")
        os.write(fd, b"\\x03.tables\\r")
        wait(b"\\nsegments\\r")
        os.write(fd, b"SELECT count(*) * 100 FROM records WHERE kind <> 'intel.presence';\\r")
        wait(b" 200\\r")
        wait(b"intel> ")
        os.write(fd, b"\\x04")
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        print(open(home + "/intel/sql_history").read().count("SELECT 40 + 2;"))
        """

    @Test("on a terminal: a prompt, several lines, history, Ctrl-C stops a statement, Ctrl-D ends")
    func terminal() throws {
        let python = "/usr/bin/python3"
        guard Files.exists(python) else {
            StandardError.line("SKIPPED: python3 is not installed: no terminal for intel sql")
            return
        }
        let station = try Station()
        try station.startAgent()
        #expect(try station.run(["send"], input: Array("one\ntwo\n".utf8)).status == 0)
        let folder = try TemporaryFolder()
        let output = try Files.create(folder.file("out"))
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        var child = try Child(
            python,
            ["-c", Self.typist, Program.path, spool, folder.path],
            output: output.raw,
            error: output.raw
        )
        let ending = child.wait()
        let text = String(decoding: try Files.contents(folder.file("out")), as: UTF8.self)
        #expect(ending == .exited(0) && text == "0\n1\n", "\(text)")
    }

    @Test("statements come from standard input; a closed pipe is success")
    func pipes() throws {
        let station = try Station()
        try station.startAgent()
        let lines = (1...3000).map { "line \($0)\n" }.joined()
        #expect(try station.run(["send"], input: Array(lines.utf8)).status == 0)
        let input = "-- a comment\nCREATE TABLE t AS\nSELECT 7 AS n;\nSELECT n FROM t; SELECT 8"
        let found = try station.run(["sql", "-o", "csv"], input: Array(input.utf8))
        #expect(found.status == 0 && found.output == "n\n7\n8\n8\n", "\(found)")
        let wrong = try station.run(["sql"], input: Array("SELECT 1 AS n;\nnonsense;\n".utf8))
        #expect(wrong.status == 2 && wrong.output == "n\n-\n1\n")
        #expect(wrong.error.contains("syntax error"))
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        let reader = FileDescriptor(owning: pipe.read)
        let writer = FileDescriptor(owning: pipe.write)
        let statement = "SELECT * FROM records a, records b"
        var child = try Child(
            Program.path,
            ["sql", "-o", "csv", statement],
            environment: station.environment,
            output: writer.raw
        )
        var chunk = [UInt8](repeating: 0, count: 10)
        _ = try Descriptor.read(reader.raw, into: &chunk)
        close(reader)
        #expect(child.wait() == .exited(0))
    }

    private func close(_ descriptor: consuming FileDescriptor) {}
}
