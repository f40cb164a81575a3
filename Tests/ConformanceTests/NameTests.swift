import Glibc
import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

/// A broker of the program with a rules file.
///
/// - Parameter mode: of the rules file, whatever the process's mask says.
func ruledBus(_ rules: String, mode: mode_t = 0o600) throws -> Bus {
    let bus = try Bus(isStarted: false)
    let path = bus.station.folder.file("rules")
    try Files.write(rules, to: path)
    chmod(path, mode)
    // Other users must reach the socket.
    chmod(bus.station.folder.path, 0o755)
    try bus.station.startBus(["--rules", path])
    return bus
}

/// Says a figure where somebody reads it: the tests' own output.
func tell(_ text: String) { StandardError.line("figure: " + text) }

/// Says again what a test that was a process of its own has said.
func tellAgain(_ ended: ExitTest.Result?) {
    let text = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
    for line in text.split(separator: "\n") { StandardError.line(String(line)) }
}

@Suite struct NameTests {
    @Test("C7: a name that the rules set keeps its state though nobody is registered")
    func pinned() throws {
        let bus = try ruledBus("set c7.kept 42\nset c7.zero\n")
        for round in 0..<3 as Range<UInt64> {
            let client = try bus.client()
            let token = try client.registerCheck("c7.kept")
            #expect(try client.state(token) == (round == 0 ? 42 : 70 + round - 1))
            try client.setState(token, 70 + round)
            let other = try client.registerCheck("c7.plain")
            #expect(try client.state(other) == 0)
            try client.setState(other, 9)
            client.close()
        }
        let last = try bus.client()
        #expect(try eventually { try last.list(prefix: "c7.").count == 2 })
        #expect(try last.list(prefix: "c7.").map(\.state).sorted() == [0, 72])
    }

    @Test(
        "F6: UTF-8, spaces and nothing are names like any other, and told apart by their bytes",
        arguments: ["", " ", "a b\tc\n", "日本語.名前", "🇨🇭", "e\u{301}", "\u{e9}", "\u{7f}", "."]
    )
    func anyText(name: String) throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let seen = Seen()
        let token = try client.registerHandler(name) { seen.add($0) }
        _ = try client.check(token)
        // Neither a longer name nor another spelling is this one; == would call the two equal.
        let isShort = name.utf8.elementsEqual("\u{e9}".utf8)
        for wrong in [name + " ", name + "x", isShort ? "e\u{301}" : "\u{e9}"] {
            let strange = try other.registerCheck(wrong)
            try other.setAndPost(strange, 1)
        }
        #expect(try !client.check(token))
        try other.post(name)
        #expect(eventually { seen.count == 1 })
        try client.setState(token, 6)
        let theirs = try other.registerCheck(name)
        #expect(try other.state(theirs) == 6)
        let found = try other.list(prefix: name).map(\.name)
        #expect(found.count { $0.utf8.elementsEqual(name.utf8) } == 1)
        #expect(try other.who(prefix: name).first?.info.name.utf8.elementsEqual(name.utf8) == true)
        #expect(try other.list(prefix: "").count == 4)
        let claimed = try client.claim(name + ".claimed")
        #expect(client.isValid(claimed))
    }

    @Test("F7: one client has 100,000 names, each with a state of its own")
    func many() throws {
        let bus = try Bus()
        let client = try bus.client()
        let before = ProcessFigures.residentBytes(bus.station.busPid)
        let start = Clock.system.boot()
        var tokens: [NotifyToken] = []
        // One by one, and then many at a time, as a busy machine takes long enough.
        for index in 0..<10_000 { tokens.append(try client.registerCheck("f7.\(index)")) }
        let registered = Clock.system.boot()
        for start in stride(from: 10_000, to: 100_000, by: 500) {
            let claims = (start..<start + 500).map { ("f7.\($0)", ClaimOptions(), 0) }
            tokens += try client.claimAll(claims)
        }
        let claimed = Clock.system.boot()
        for (index, token) in tokens.enumerated() where index % 100 == 7 {
            try client.setState(token, UInt64(index))
        }
        for (index, token) in tokens.enumerated() {
            let expected = index % 100 == 7 ? UInt64(index) : 0
            guard try client.state(token) == expected else {
                Issue.record("state of name \(index)")
                break
            }
        }
        let bytes = ProcessFigures.residentBytes(bus.station.busPid) - before
        tell(
            "100,000 names by one client: \((registered - start) / 10_000_000) us each, "
                + "\((claimed - registered) / 90_000_000) us in frames of 500, "
                + "\(bytes / 100_000) B of the broker each"
        )
        #expect(bytes < 200 << 20)
        // Looking at them all may take a debug build longer than a call waits.
        #expect(eventually { (try? client.list(prefix: "f7.9999"))?.count == 11 })
        // The end of such a client is no more than a hitch to the others.
        let other = try bus.client()
        let ended = Clock.system.boot()
        client.close()
        #expect(eventually(120) { (try? other.list(prefix: "f7."))?.isEmpty ?? false })
        tell("100,000 names gone after \(Double(Clock.system.boot() - ended) / 1e6) ms")
    }

    @Test("F8: rules that others could have written are told and ignored: no name is reserved")
    func untrusted() throws {
        let rules = "reserve f8. \(Environment.uid &+ 1) 0 rw----\nset f8.set 5\n"
        for mode in [0o622, 0o660] as [mode_t] {
            let bus = try ruledBus(rules, mode: mode)
            #expect(bus.station.busSaid.contains("ignoring"))
            let client = try bus.client()
            let token = try client.registerCheck("f8.set")
            #expect(try client.state(token) == 0)
            try client.setAndPost(token, 1)
        }
        let bus = try ruledBus(rules)
        #expect(!bus.station.busSaid.contains("ignoring"))
        #expect(try bus.client().list(prefix: "f8.").count == (Environment.uid == 0 ? 1 : 0))
    }
}
