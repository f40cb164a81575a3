import FuzzEntries
import NotifyBroker
import NotifyProtocol
import Testing

/// A claim that lingers, and a later process with the number of its claimer.
@Suite struct ReuseTests {
    @Test("G6: a process id that came again takes back nothing: its start time is another")
    func pidReuse() {
        let bench = Bench()
        let old = Identity(pid: 77, uid: 5, gid: 5, groups: [], startTime: 1000)
        let one = bench.connect(old) ?? 0
        #expect(bench.apply([.claim(1, "n", linger: 60)], from: one) == [0])
        bench.state.disconnect(one, now: 0)
        let back = Operation.claim(1, "n", linger: 60, reclaims: true)
        // Another start, another user, and a start that could not be read.
        let strangers = [(1001, 5), (1000, 6), (0, 5)] as [(UInt64, UInt32)]
        for (start, uid) in strangers {
            let other = bench.connect(
                Identity(pid: 77, uid: uid, gid: 5, groups: [], startTime: start)
            )
            #expect(bench.apply([back], from: other ?? 0) == [7])
        }
        #expect(bench.apply([back], from: bench.connect(old) ?? 0) == [0])
    }

    @Test("G6: where no start can be read, a claim that lingers is nobody's until it ends")
    func unknownStart() {
        let bench = Bench()
        let unknown = Identity(pid: 77, uid: 5, gid: 5, groups: [], startTime: 0)
        let one = bench.connect(unknown) ?? 0
        #expect(bench.apply([.claim(1, "n", linger: 60)], from: one) == [0])
        bench.state.disconnect(one, now: 0)
        let back = Operation.claim(1, "n", linger: 60, reclaims: true)
        #expect(bench.apply([back], from: bench.connect(unknown) ?? 0) == [7])
    }
}
