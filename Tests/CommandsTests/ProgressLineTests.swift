import LinuxIO
import Synchronization
import Testing

@testable import Commands

/// A clock that stands still until it is moved.
private final class Hand: Sendable {
    private let time = Atomic<UInt64>(1)
    var clock: Clock {
        Clock(wall: { 0 }, boot: { self.time.load(ordering: .relaxed) })
    }
    func move(_ nanoseconds: UInt64) { time.add(nanoseconds, ordering: .relaxed) }
}

/// What `body` makes a progress line write.
private func written(
    _ mode: ProgressLine.Mode,
    _ body: (ProgressLine, Hand) -> Void
) throws -> String {
    let folder = try Files.makeTemporaryFolder("intel-progress")
    defer { Files.removeTree(folder) }
    let file = try Files.create(folder + "/out")
    let hand = Hand()
    body(ProgressLine(mode, descriptor: file.raw, clock: hand.clock), hand)
    return String(decoding: try Files.contents(folder + "/out"), as: UTF8.self)
}

@Test func progressIsRewrittenInPlaceAtMostTenTimesASecond() throws {
    let text = try written(.standing) { line, hand in
        line.total = 2048
        for step in 0..<200 {
            line.bytes = UInt64(step)
            line.show(sent: UInt64(step), stored: 0)
            hand.move(10_000_000)
        }
        line.finish(sent: 200, stored: 200)
    }
    let shown = text.split(separator: "\r")
    #expect(shown.count == 21)
    #expect(shown.first == "0 B of 2.0 KB · 0 lines sent · 0 stored\u{1b}[K")
    #expect(text.hasSuffix("\r\u{1b}[K199 B of 2.0 KB · 200 lines sent · 200 stored\n"))
    #expect(!text.dropLast().contains("\n"))
}

@Test func anErrorStandsOnALineOfItsOwn() throws {
    let text = try written(.standing) { line, hand in
        line.show(sent: 1, stored: 0)
        line.say("intel: odd")
        line.say("intel: odder")
        hand.move(ProgressLine.pause)
        line.show(sent: 1, stored: 0)
    }
    let drawn = "\r0 B · 1 lines sent · 0 stored\u{1b}[K"
    #expect(text == drawn + "\r\u{1b}[Kintel: odd\nintel: odder\n" + drawn)
}

@Test func shortWorkShowsNothingAndLongWorkLeavesNothing() throws {
    let short = try written(.passing) { line, _ in
        line.show(sent: 1, stored: 0)
        line.finish(sent: 1, stored: 1)
    }
    #expect(short.isEmpty)
    let long = try written(.passing) { line, hand in
        hand.move(ProgressLine.patience)
        line.show(sent: 1, stored: 0)
        line.finish(sent: 1, stored: 1)
        hand.move(ProgressLine.patience)
        line.show(sent: 9, stored: 9)
    }
    #expect(long.hasSuffix("stored\u{1b}[K\r\u{1b}[K"))
    let off = try written(.off) { line, hand in
        hand.move(ProgressLine.patience)
        line.show(sent: 1, stored: 0)
        line.say("intel: odd")
        line.finish(sent: 1, stored: 1)
    }
    #expect(off == "intel: odd\n")
}
