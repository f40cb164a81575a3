import LinuxIO
import Spool
import Synchronization
import Telemetry
import Testing

@testable import Commands

/// `intel query --follow` in a thread of its own, with a pipe for its output.
private final class Following: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32
    private let thread: OwnedThread
    private let result: Mailbox<Int32>

    init(_ spool: SampleSpool, _ arguments: [String]) throws {
        (readEnd, writeEnd) = try Descriptor.pipe(nonBlockingWrite: false)
        let result = Mailbox<Int32>(capacity: 1)
        let all = ["query", "-f", "-o", "cat", "--spool", spool.folder] + arguments
        let output = writeEnd
        thread = try OwnedThread("follow") { _ = result.trySend(Program.run(all, output: output)) }
        self.result = result
    }

    /// The next `count` lines.
    func lines(_ count: Int) throws -> [String] {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1)
        while text.count(where: { $0 == 0x0a }) < count {
            guard try Descriptor.read(readEnd, into: &chunk) == 1 else { break }
            text.append(chunk[0])
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits for something to read.
    func hasMore(milliseconds: Int32) throws -> Bool {
        var poller = try Poller()
        try poller.add(readEnd, tag: 0)
        var isReady = false
        try poller.wait(timeout: milliseconds) { _ in isReady = true }
        return isReady
    }

    /// Closes the reader's end; the status with which the follower ends.
    func end() -> Int32? {
        Descriptor.close(readEnd)
        thread.join()
        Descriptor.close(writeEnd)
        return result.receive()
    }
}

@Test(.timeLimit(.minutes(10))) func followingShowsHistoryThenWhatComes() throws {
    let spool = try SampleSpool()
    try spool.store((1...12).map { "\"\($0)\"" })
    let following = try Following(spool, [])
    #expect(try following.lines(10) == (3...12).map { "\"\($0)\"" })
    for number in 13...40 { try spool.store(["\"\(number)\""]) }
    #expect(try following.lines(28) == (13...40).map { "\"\($0)\"" })
    #expect(following.end() == 0)
}

@Test(.timeLimit(.minutes(10))) func followingCombinesWithFilters() throws {
    let spool = try SampleSpool()
    try spool.store((1...10).map { "\"\($0)\($0 == 3 ? " X" : "")\"" })
    let matching = try Following(spool, ["-g", "X"])
    #expect(try matching.lines(1) == ["\"3 X\""])
    try spool.store(["\"11\"", "\"12 X\"", "\"13 X\""])
    #expect(try matching.lines(2) == ["\"12 X\"", "\"13 X\""])
    #expect(matching.end() == 0)
}

@Test(.timeLimit(.minutes(10))) func followingFromNowShowsNothingOlder() throws {
    let spool = try SampleSpool()
    try spool.store((1...10).map { "\"\($0)\"" })
    let following = try Following(spool, ["-n", "0"])
    // Nothing tells when it has started: records are stored until it shows one.
    repeat { try spool.store(["\"live\""]) } while try !following.hasMore(milliseconds: 100)
    #expect(try following.lines(1) == ["\"live\""])
    #expect(following.end() == 0)
}

@Test(.timeLimit(.minutes(10))) func followingEndsWhenNobodyReads() throws {
    let spool = try SampleSpool()
    try spool.store(["\"1\""])
    let following = try Following(spool, [])
    #expect(try following.lines(1) == ["\"1\""])
    let start = Clock.system.boot()
    #expect(following.end() == 0)
    #expect(Clock.system.boot() - start < 1_000_000_000)
}

@Test(.timeLimit(.minutes(10))) func followingSurvivesANewSpool() throws {
    let spool = try SampleSpool()
    try spool.store((1...3).map { "\"\($0)\"" })
    let following = try Following(spool, [])
    #expect(try following.lines(3) == ["\"1\"", "\"2\"", "\"3\""])
    for name in ["hot.db", "hot.db-wal", "hot.db-shm"] {
        try Files.remove(spool.folder + "/" + name)
    }
    try spool.store(["\"4\""])
    #expect(try following.lines(1) == ["\"4\""])
    try spool.store(["\"5\""])
    #expect(try following.lines(1) == ["\"5\""])
    #expect(following.end() == 0)
}
