import Basics
import LinuxIO
import Telemetry
import Testing

@testable import Commands

private func peer(_ name: String, _ presence: Presence = .alive) -> PeerState {
    let epoch: UInt64 = 1_796_000_000_000_000_000
    var state = PeerState(instance: PeerInstance(identifier: name, epoch: epoch))
    state.presence = presence
    state.pid = 812
    state.uid = 1000
    state.fingerprint = 0xbeef
    state.changed = 1_796_008_800_000_000_000
    state.lastSeen = 1_796_008_801_000_000_000
    state.sent = 1204
    state.stored = 1200
    state.dropped = 1
    state.holes = [Hole(sequences: 7...9, times: state.changed...state.lastSeen)]
    return state
}

@Test func peersAsATable() {
    let text = PeersCommand.table([peer("com.vendor.pos"), peer("a\u{1b}\n", .lost)], .utc)
    let since = "2026-11-30 03:20:00  2026-11-30 03:20:01  812  1000  1,204   1,200        3\n"
    #expect(
        text == "PEER            STATE  SINCE                LAST SEEN            "
            + "PID   UID   SENT  STORED  MISSING\n"
            + "com.vendor.pos  alive  " + since
            + "a\\x1b\\n         lost   " + since
    )
}

@Test func theGoneAreShownOnlyWithAll() throws {
    let peers = [peer("b", .left), peer("c", .died), peer("d", .lost), peer("a")]
    func names(_ arguments: [String]) throws -> [String] {
        let parsed = try ArgumentParser.parse(PeersCommand.definition, arguments)
        return PeersCommand.chosen(peers, parsed).map(\.instance.identifier)
    }
    #expect(try names([]) == ["a", "d"])
    #expect(try names(["--all"]) == ["a", "b", "c", "d"])
    #expect(try names(["-a", "--peer", "b", "--peer", "[cd]"]) == ["b", "c", "d"])
}

@Test func booksAddUpInJSON() throws {
    let loss = Loss(
        instance: peer("p").instance,
        sequences: 3...3,
        reason: "sender queue \"full\"",
        times: 0...1
    )
    let text = LossesCommand.json(peer("p"), [loss])
    #expect(text.contains(#""sent":1204,"stored":1200,"collapsed":0,"dropped":1,"missing":3"#))
    #expect(text.contains(#""holes":[{"first":7,"last":9,"#))
    #expect(text.contains(#""reason":"sender queue \"full\"""#))
    for json in [text, PeerJSON.text(peer("\u{1b}\"x"))] {
        try Array(json.utf8).withUnsafeBytes { _ = try JSONScanner.validate($0) }
    }
    #expect(PeerJSON.text(peer("p")).contains(#""fingerprint":"0000beef""#))
}

@Test func lossesSayWhatAndWhy() {
    let state = peer("p")
    let loss = Loss(instance: state.instance, sequences: 3...3, reason: "queue full", times: 0...1)
    let text = LossesCommand.text([state], [state.instance: [loss]], .utc)
    #expect(text.contains("dropped  3"))
    #expect(text.contains("queue full"))
    #expect(text.contains("missing  7-9 (3)"))
}

@Test func figures() {
    let numbers: [(UInt64, String)] = [(0, "0"), (999, "999"), (1204, "1,204"), (10_000, "10,000")]
    for (number, text) in numbers { #expect(FigureText.grouped(number) == text) }
    let sizes: [(UInt64, String)] = [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (98_304, "96 KB"), (1_500_000, "1.4 MB"),
        (5 << 40, "5.0 TB"), (.max, "16384 PB"),
    ]
    for (number, text) in sizes { #expect(FigureText.bytes(number) == text) }
}

@Test func levelsOfAFlag() throws {
    #expect(try RecordFilter.levels([]) == nil)
    #expect(try RecordFilter.levels(["err"]) == 0...3)
    #expect(try RecordFilter.levels(["warning..err"]) == 3...4)
    #expect(try RecordFilter.levels(["err..WARNING"]) == 3...4)
    #expect(try RecordFilter.levels(["7"]) == 0...7)
    #expect(try RecordFilter.levels(["emerg", "alert..crit"]) == 0...2)
    let gap = ["emerg", "info..debug"]
    for texts in [["loud"], ["err.."], ["..err"], [""], ["0..1..2"], gap, ["8"]] {
        #expect(throws: CommandError.self) { try RecordFilter.levels(texts) }
    }
}

@Test func aLockTellsOfARunningAgent() throws {
    let folder = try Files.makeTemporaryFolder("intel-lock")
    defer { Files.removeTree(folder) }
    #expect(RunningAgent.find(spool: folder) == nil)
    do {
        let lock = try Files.lock(folder + "/lock")
        try Files.replaceContents(lock, with: "\(Environment.pid)\n")
        #expect(RunningAgent.find(spool: folder) == Environment.pid)
    }
    // The file is still there, the lock is not.
    #expect(RunningAgent.find(spool: folder) == nil)
}
