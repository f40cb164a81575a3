import Spool
import Telemetry
import Testing

@testable import Commands

private let a = PeerInstance(identifier: "a", epoch: 1)
private let b = PeerInstance(identifier: "b", epoch: 2)

private func change(_ instance: PeerInstance, _ word: String) -> PresenceHistory.Change? {
    let text =
        #"{"change":"\#(word)","peer":"\#(instance.identifier)","#
        + #""epoch":\#(instance.epoch),"pid":7,"uid":8}"#
    return Array(text.utf8).withUnsafeBytes { PresenceHistory.Change($0) }
}

private func states(
    at moment: Int64,
    _ changes: [(Int64, PeerInstance, String)],
    books: [PeerState] = []
) -> [String] {
    var history = PresenceHistory(at: moment)
    for (time, instance, word) in changes {
        if let change = change(instance, word) { history.add(change, time: time) }
    }
    return history.guests(books).map {
        "\($0.instance.identifier) \($0.presence.name) \($0.since)"
    }
}

@Test func whoComesAndGoesSeveralTimesIsRightAtEachMoment() {
    let changes: [(Int64, PeerInstance, String)] = [
        (10, a, "appeared"), (20, b, "appeared"), (30, a, "lost"), (40, a, "reappeared"),
        (50, b, "died"), (60, a, "left"), (70, a, "reappeared"),
    ]
    let wanted: [(Int64, [String])] = [
        (9, []), (10, ["a alive 10"]), (29, ["a alive 10", "b alive 20"]),
        (30, ["a lost 30", "b alive 20"]), (45, ["a alive 40", "b alive 20"]),
        (50, ["a alive 40", "b died 50"]), (65, ["a left 60", "b died 50"]),
        (1000, ["a alive 70", "b died 50"]),
    ]
    for (moment, guests) in wanted { #expect(states(at: moment, changes) == guests) }
}

@Test func theBooksTellOfThoseWhoseRecordsAreGone() {
    var state = PeerState(instance: a)
    (state.appeared, state.changed, state.presence) = (10, 10, .alive)
    #expect(states(at: 9, [], books: [state]).isEmpty)
    #expect(states(at: 10, [], books: [state]) == ["a alive 10"])
    (state.changed, state.presence) = (90, .left)
    #expect(states(at: 95, [], books: [state]) == ["a left 90"])
    #expect(states(at: 50, [(90, a, "left")], books: [state]) == ["a alive 10"])
    #expect(
        states(at: 50, [(80, a, "reappeared"), (90, a, "left")], books: [state]) == ["a lost 10"]
    )
    // The agent's own comings and goings have no record.
    #expect(states(at: 50, [], books: [state]) == ["a alive 10"])
}

@Test func oddPresenceRecordsAreNone() {
    #expect(change(a, "appeared")?.pid == 7 && change(a, "appeared")?.uid == 8)
    let odd = PeerInstance(identifier: #"x\"y\u00e9"#, epoch: 3)
    #expect(change(odd, "left")?.instance.identifier == "x\"yé")
    #expect(change(a, "danced") == nil)
    for text in ["", "{}", "[]", "7", #"{"change":"left"}"#, #"{"change":"left","peer":"a""#] {
        #expect(Array(text.utf8).withUnsafeBytes { PresenceHistory.Change($0) } == nil)
    }
    let noText = #"{"change":"left","peer":7,"epoch":1}"#
    #expect(Array(noText.utf8).withUnsafeBytes { PresenceHistory.Change($0) } == nil)
}
