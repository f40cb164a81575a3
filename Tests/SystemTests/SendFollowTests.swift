import LinuxIO
import TestKit
import Testing

/// `intel send --follow` on files that grow, are rotated, cut, removed and made late: every line
/// once, in order.
@Suite(.timeLimit(.minutes(10))) struct SendFollowTests {
    /// An agent, a folder of logs, and a follower of some of them.
    private final class Scene {
        let station: Station
        let logs: TemporaryFolder
        private var follower: Program?

        init() throws {
            station = try Station()
            logs = try TemporaryFolder()
            try station.startAgent()
        }

        func follow(_ names: [String], _ more: [String] = []) throws {
            let paths = names.map { logs.file($0) }
            follower = try station.start(["send", "--follow", "--as", "tail"] + more + paths)
        }

        /// Appends to a file, which is made if it is not there.
        func append(_ text: String, to name: String) throws {
            try Appended(logs.file(name)).write(text)
        }

        func rename(_ old: String, _ new: String) throws {
            try Files.rename(logs.file(old), to: logs.file(new))
        }

        /// The messages that are stored, in order.
        func stored() throws -> [String] {
            let outcome = try station.run(["query", "--peer", "tail", "-q", "-o", "cat"])
            return outcome.output.split(separator: "\n").map(String.init)
        }

        func storedSoon(_ count: Int) -> Bool {
            eventually { (try? self.stored().count) == count }
        }

        var said: String { follower?.errorSoFar ?? "" }

        func hasEnded() -> Bool { follower?.hasEnded() ?? true }

        func signal(_ number: Int32) { follower?.signal(number) }

        /// True once the follower takes signals as events: SIGTERM is blocked in it.
        func isListening() -> Bool {
            let path = "/proc/\(follower?.pid ?? 0)/status"
            let status = String(decoding: (try? Files.contents(path)) ?? [], as: UTF8.self)
            let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            let mask = blocked.flatMap { UInt64($0.dropFirst(7).filter { $0 != "\t" }, radix: 16) }
            return (mask ?? 0) >> 14 & 1 == 1
        }

        /// Ends the follower; what it has said.
        func end(_ number: Int32 = 15) throws -> Program.Outcome {
            let program = try #require(follower)
            program.signal(number)
            return program.finish()
        }
    }

    /// A file that is written to from its end.
    private struct Appended: ~Copyable {
        private let file: FileDescriptor

        init(_ path: String) throws {
            file = try Files.openToAppend(path)
        }

        func write(_ text: String) throws {
            try Descriptor.write(file.raw, Array(text.utf8))
        }
    }

    private func lines(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "line \($0)" } }

    /// Where two lists differ first, in words; nil if they are the same.
    private func difference(_ found: [String], _ wanted: [String]) -> String? {
        for (place, line) in wanted.enumerated() {
            guard place < found.count else { return "\(found.count) of \(wanted.count) lines" }
            if found[place] != line { return "line \(place + 1): \(found[place]), not \(line)" }
        }
        return found.count > wanted.count ? "\(found.count) of \(wanted.count) lines" : nil
    }

    private func text(_ numbers: ClosedRange<Int>) -> String {
        lines(numbers).map { $0 + "\n" }.joined()
    }

    @Test("what is there is sent, then what is appended; SIGTERM and SIGINT end it with 0")
    func appended() throws {
        for (number, signal) in [Int32(15), 2].enumerated() {
            let scene = try Scene()
            try scene.append(text(1...1000), to: "log")
            try scene.follow(["log"])
            #expect(scene.storedSoon(1000))
            for chunk in 10..<20 {
                try scene.append(text(chunk * 100 + 1...chunk * 100 + 100), to: "log")
            }
            if number == 0 { #expect(scene.storedSoon(2000)) }
            // Otherwise the signal comes while the last lines are being written down: they count.
            let outcome = try scene.end(signal)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.isEmpty)
            #expect(difference(try scene.stored(), lines(1...2000)) == nil)
            #expect(try scene.station.run(["losses"]).status == 0)
        }
    }

    @Test("a line is sent when its end has come, and at the end as it is")
    func begunLine() throws {
        let scene = try Scene()
        try scene.append("whole\nbeg", to: "log")
        try scene.follow(["log"])
        #expect(scene.storedSoon(1))
        try scene.append("un", to: "log")
        try scene.append(" and ended\nlast", to: "log")
        #expect(scene.storedSoon(2))
        #expect(try scene.end().status == 0)
        #expect(difference(try scene.stored(), ["whole", "begun and ended", "last"]) == nil)
    }

    @Test("rename and create, faster than anybody looks: every line once, in order")
    func renamed() throws {
        let scene = try Scene()
        try scene.append(text(1...10), to: "log")
        try scene.follow(["log"])
        #expect(scene.storedSoon(10))
        var next = 11
        for rotation in 0..<40 {
            for number in stride(from: rotation, to: 0, by: -1) {
                try scene.rename("log.\(number)", "log.\(number + 1)")
            }
            try scene.rename("log", "log.1")
            try scene.append(text(next...next + 49), to: "log")
            next += 50
        }
        #expect(scene.storedSoon(next - 1))
        let outcome = try scene.end()
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
        let stored = try scene.stored()
        #expect(difference(stored, lines(1...next - 1)) == nil)
    }

    @Test("who still writes to the renamed file is heard until the new one has something")
    func lateWriter() throws {
        let scene = try Scene()
        let writer = try Appended(scene.logs.file("log"))
        try writer.write("1\n")
        try scene.follow(["log"])
        #expect(scene.storedSoon(1))
        try scene.rename("log", "log.1")
        try scene.append("", to: "log")
        try writer.write("2\n")
        #expect(scene.storedSoon(2))
        try writer.write("3\n4 has no end")
        try scene.append("5\n", to: "log")
        #expect(scene.storedSoon(5))
        #expect(try scene.end().status == 0)
        #expect(difference(try scene.stored(), ["1", "2", "3", "4 has no end", "5"]) == nil)
    }

    @Test("a file that was cut is read from its start, also if it is longer than before by then")
    func cut() throws {
        let scene = try Scene()
        try scene.append(text(1...100), to: "log")
        try scene.append("begun", to: "log")
        try scene.follow(["log"])
        #expect(scene.storedSoon(100))
        // Shorter, and left so.
        try Files.write("", to: scene.logs.file("log"))
        #expect(scene.storedSoon(101))
        try scene.append(text(101...200), to: "log")
        #expect(scene.storedSoon(201))
        #expect(scene.said.split(separator: "\n").count == 1)
        #expect(scene.said.contains("log was cut or written anew, beginning at its start"))
        // Longer at once: its size tells nothing.
        try Files.write(text(201...600), to: scene.logs.file("log"))
        #expect(scene.storedSoon(601))
        #expect(scene.said.split(separator: "\n").count == 2)
        #expect(try scene.end().status == 0)
        #expect(
            difference(try scene.stored(), lines(1...100) + ["begun"] + lines(101...600)) == nil
        )
    }

    @Test("a file that is not there yet is waited for; one that is removed comes back")
    func lateAndRemoved() throws {
        let scene = try Scene()
        try scene.follow(["deep/log"])
        #expect(eventually { scene.said.contains("deep/log is not there yet, waiting for it") })
        try Files.makeFolder(scene.logs.file("deep"))
        try scene.append("1\n", to: "deep/log")
        #expect(scene.storedSoon(1))
        for number in 2...4 {
            try Files.remove(scene.logs.file("deep/log"))
            if number == 3 {
                #expect(eventually { scene.said.contains("deep/log is gone, waiting for it") })
            }
            try scene.append("\(number)\n", to: "deep/log")
            #expect(scene.storedSoon(number))
        }
        #expect(try scene.end().status == 0)
        #expect(difference(try scene.stored(), ["1", "2", "3", "4"]) == nil)
    }

    @Test("several files at once: each one's lines in order, also when the agent is killed")
    func severalFiles() throws {
        let scene = try Scene()
        let names = ["a", "b", "c"]
        for name in names { try scene.append("\(name) 0\n", to: name) }
        try scene.follow(names)
        #expect(scene.storedSoon(3))
        for round in 0..<12 {
            for name in names {
                let text = (1...50).map { "\(name) \(round * 50 + $0)\n" }.joined()
                try scene.append(text, to: name)
                if round % 4 == 3 { try scene.rename(name, "\(name).\(round)") }
            }
            if round % 5 == 4 {
                #expect(scene.station.signalAgent(9) == 137)
                try scene.station.startAgent()
            }
        }
        #expect(scene.storedSoon(1803))
        #expect(try scene.end().status == 0)
        let stored = try scene.stored()
        for name in names {
            let own = stored.filter { $0.hasPrefix(name) }
            #expect(difference(own, (0...600).map { "\(name) \($0)" }) == nil)
        }
    }

    @Test("while nobody stores the file is the buffer, across rotations, and the stall is told")
    func nobodyStores() throws {
        let scene = try Scene()
        try scene.append("1\n", to: "log")
        try scene.follow(["log"], ["--timeout", "1s"])
        #expect(scene.storedSoon(1))
        #expect(scene.station.signalAgent(15) == 0)
        let filler = String(repeating: "x", count: 5000)
        for number in 2...9 {
            let text = (0..<1000).map { "\(number) \($0) \(filler)\n" }.joined()
            try scene.append(text, to: "log")
            try scene.rename("log", "log.\(number)")
        }
        // A slow machine may tell of a stall before, while the agent was there.
        #expect(eventually { scene.said.contains("is 'intel agent' running?") })
        #expect(scene.said.contains("lines wait, none is being stored"))
        try scene.station.startAgent()
        #expect(
            eventually(300) {
                (try? scene.station.run(["query", "--peer", "tail", "--count"]).output) == "8001\n"
            }
        )
        #expect(try scene.end().status == 0)
        let heads = try scene.stored().map { $0.prefix { $0 != "x" } }
        let wanted = (2...9).flatMap { file in (0..<1000).map { "\(file) \($0) " } }
        #expect(difference(heads.map(String.init), ["1"] + wanted) == nil)
    }

    @Test("without an agent the end says what was not stored, and a second signal hurries it")
    func neverStored() throws {
        let scene = try Scene()
        #expect(scene.station.signalAgent(15) == 0)
        try scene.append(text(1...5), to: "log")
        try scene.follow(["log"], ["--timeout", "1h"])
        // Signals before it listens would end it at once.
        #expect(eventually { scene.isListening() })
        // Two that come at once would be one.
        #expect(
            eventually {
                scene.signal(15)
                return scene.hasEnded()
            }
        )
        let outcome = try scene.end()
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("5 of 5 lines not stored"), "\(outcome.error)")
    }

    @Test("what cannot be followed is refused, or told once and tried again")
    func refusals() throws {
        let scene = try Scene()
        for arguments in [["-f"], ["-f", "-"], ["-f", "a", "-"]] {
            let outcome = try scene.station.run(["send"] + arguments)
            #expect(outcome.status == 2 && outcome.error.contains("--follow needs files"))
        }
        let twice = try scene.station.run(["send", "-f", "/x/a", "/x/a"])
        #expect(twice.status == 2 && twice.error.contains("given twice"))
        try Files.makeFolder(scene.logs.file("folder"))
        try scene.append("1\n", to: "log")
        try scene.follow(["folder", "log"])
        #expect(scene.storedSoon(1))
        #expect(scene.said.contains("folder is no plain file"))
        let outcome = try scene.end()
        #expect(outcome.status == 2)
        #expect(outcome.error.split(separator: "\n").count == 1)
    }

    @Test("--progress counts bytes, lines and what is stored, apart from what goes wrong")
    func progress() throws {
        let scene = try Scene()
        try scene.append("1\n{no\n3\n", to: "log")
        let path = scene.logs.file("log")
        let outcome = try scene.station.run(["send", "--progress", "--format", "auto", path])
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.error.hasSuffix("\r\u{1b}[K8 B of 8 B · 3 lines sent · 3 stored\n"))
        let refused = try scene.station.run(["send", "--progress", "--format", "json", path])
        #expect(refused.status == 2)
        let whole = refused.error.split(separator: "\n").map {
            $0.split(separator: "\u{1b}[K").last
        }
        #expect(whole.contains { $0?.hasPrefix("intel: \(path): line 2: ") == true })
        #expect(whole.last == "intel: 1 lines refused, 2 sent")
        let silent = try scene.station.run(["send", path])
        #expect(silent.status == 0 && silent.error.isEmpty)
    }
}
