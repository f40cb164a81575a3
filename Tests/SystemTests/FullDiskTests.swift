import Basics
import Glibc
import LinuxIO
import TestKit
import Testing

/// A disk that others fill, under a collecting agent.
@Suite(
    .serialized,
    .enabled(if: Environment.uid == 0, "needs root, to mount a small file system: NOT RUN")
)
struct FullDiskTests {
    /// A station whose spool is on a file system of its own, of so many bytes; nil where this
    /// machine lets nobody mount.
    private static func station(_ bytes: Int) throws -> Station? {
        let station = try Station()
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        try Files.makeFolder(spool)
        guard mount("tmpfs", spool, "tmpfs", 0, "size=\(bytes)") == 0 else {
            StandardError.line("a full disk: NOT RUN, this machine lets nobody mount")
            return nil
        }
        return station
    }

    private static func number(_ key: String, _ json: String) -> Int {
        guard let range = json.firstRange(of: "\"\(key)\":") else { return -1 }
        return Int(json[range.upperBound...].prefix { $0.isNumber }) ?? -1
    }

    /// Records of a thousand bytes each that do not compress.
    private static func lines(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        var text: [UInt8] = []
        for number in 0..<count {
            text += Array(#"{"n":\#(number),"t":""#.utf8)
            for _ in 0..<60 { text += Array(String(random.next() as UInt64, radix: 36).utf8) }
            text += Array("\"}\n".utf8)
        }
        return text
    }

    @Test("the disk fills: the oldest records go, the newest come in, and nothing is missing")
    func oldestGo() throws {
        guard let station = try Self.station(24 << 20) else { return }
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        defer { umount2(spool, Int32(MNT_DETACH)) }
        try station.startAgent()
        // Three times what there is room for.
        for round in 1...5 {
            let sent = try station.run(
                ["send", "--as", "disk.\(round)", "--timeout", "300s"],
                input: Self.lines(10_000)
            )
            #expect(sent.status == 0, "\(sent.error)")
        }
        let status = try station.run(["status", "-o", "json"]).output
        #expect(Self.number("removed", status) > 0)
        #expect(try station.run(["losses"]).status == 0)
        // What is left, and what was removed, is all that was sent.
        _ = station.signalAgent(15)
        let left = try station.run(["query", "-n", "all", "--peer", "disk.*", "-o", "json"])
        let numbers = left.output.split(separator: "\n").count
        let book = "SELECT sum(records) FROM removed WHERE peer GLOB 'disk.*'"
        let gone = try station.run(["sql", "-o", "csv", book]).output.split(separator: "\n").last
        #expect(numbers + (Int(gone ?? "") ?? 0) == 50_000)
        #expect(numbers > 1000 && numbers < 50_000)
        let newest = try station.run(["query", "-n", "1", "--peer", "disk.*", "-o", "json"]).output
        #expect(newest.contains("disk.5"))
        #expect(try station.run(["query", "-n", "1"]).status == 0)
    }

    @Test(
        "case 16, trap 5: others fill the disk: only what is stored is told so, and it goes on"
    )
    func othersFill() throws {
        guard let station = try Self.station(24 << 20) else { return }
        let spool = station.environment["INTEL_SPOOL"] ?? ""
        defer { umount2(spool, Int32(MNT_DETACH)) }
        try station.startAgent()
        #expect(try station.run(["send", "--as", "first"], input: Self.lines(10)).status == 0)
        // Everything that is free, and the ballast once it is given back.
        let filler = Glibc.open(spool + "/filler", O_WRONLY | O_CREAT, 0o600)
        let bytes = [UInt8](repeating: 7, count: 64 << 10)
        func fill() {
            while bytes.withUnsafeBytes({ write(filler, $0.baseAddress, $0.count) }) > 0 {}
        }
        fill()
        let sender = try Program(
            ["send", "--as", "second"],
            environment: station.environment,
            input: Self.lines(5000)
        )
        let isTold = eventually {
            fill()
            return station.agentSaid.contains("retrying every second")
        }
        #expect(isTold, "\(station.agentSaid)")
        ftruncate(filler, 0)
        close(filler)
        #expect(sender.finish().status == 0)
        #expect(try station.run(["losses"]).status == 0)
        let all = try station.run(["query", "-n", "all", "--peer", "second", "-o", "json"]).output
        #expect(all.split(separator: "\n").count == 5000)
        #expect(eventually { (try? station.run(["status"]).status) == 0 })
    }
}
