import LinuxIO
import TestKit
import Testing

/// The `sqlite3` program on somebody's spool, fed line by line.
final class SQLiteTool {
    /// Nil, and said aloud, where it is not installed.
    static let path: String? = {
        let found = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first { Files.exists($0) }
        if found == nil { StandardError.line("SKIPPED: sqlite3 is not installed") }
        return found
    }()

    private var child: Child
    private var input: FileDescriptor?
    private let folder: TemporaryFolder

    /// Opens a database in it.
    init(_ database: String) throws {
        let path = try #require(Self.path)
        folder = try TemporaryFolder()
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        let source = FileDescriptor(owning: pipe.read)
        input = FileDescriptor(owning: pipe.write)
        let output = try Files.create(folder.file("out"))
        child = try Child(
            path,
            ["-batch", database],
            input: source.raw,
            output: output.raw,
            error: output.raw
        )
    }

    /// Its process id.
    var pid: Int32 { child.pid }

    /// Has it run statements, and waits until they are done.
    func say(_ sql: String) throws {
        guard let raw = input?.raw else { return }
        let before = said.split(separator: "\n").count
        try Descriptor.write(raw, Array((sql + "\nSELECT 'done';\n").utf8))
        let isDone = eventually {
            let lines = said.split(separator: "\n")
            return lines.count > before && lines.last == "done"
        }
        #expect(isDone, "\(said)")
    }

    /// Everything that it has printed, errors too.
    var said: String {
        String(decoding: (try? Files.contents(folder.file("out"))) ?? [], as: UTF8.self)
    }

    /// Ends its input and waits for it.
    func end() {
        input = nil
        _ = child.wait()
    }

    /// Runs statements on a database; what they print.
    static func run(_ database: String, _ sql: String) throws -> String {
        let tool = try SQLiteTool(database)
        try tool.say(sql)
        tool.end()
        return tool.said.split(separator: "\n").dropLast().joined(separator: "\n")
    }
}

extension Station {
    /// The file where the agent writes.
    var hot: String { folder.file("spool/hot.db") }

    /// Sends lines as some peer; all of them are stored after it.
    func send(_ lines: [String], as peer: String) throws {
        let input = Array(lines.map { $0 + "\n" }.joined().utf8)
        let sent = try run(["send", "--as", peer, "--timeout", "60s"], input: input)
        #expect(sent.status == 0, "\(sent.error)")
    }

    /// Payloads of a peer's lines, in their order; damaged parts may be missing.
    func lines(of peer: String) throws -> [String] {
        try exported(["--kind", "line"]).filter { $0.peer == peer }.map(\.payload)
    }

    /// Whether the agent says something in its figures or warnings.
    func status(says text: String) throws -> Bool {
        try run(["status"]).output.contains(text)
    }

    /// A figure of `intel status -o prometheus`; -1 where it is not there.
    func metric(_ name: String) throws -> Int {
        let page = try run(["status", "-o", "prometheus"]).output
        let line = page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? -1
    }
}
