import LinuxIO
import Telemetry
import Testing

@testable import Spool

@Suite struct SegmentTests {
    @Test("what was hot is read from a segment, in the same order, and nothing is left behind")
    func thinLine() throws {
        let (fixture, _) = try Fixture.mixed(2_000, size: 70, seed: 5)
        let before = try fixture.records()
        #expect(before.count == 2_000)
        let made = try fixture.compact()
        #expect(made.count == 1)
        #expect(made.first?.records == 2_000)
        #expect(try fixture.hotBatches() == 0)
        #expect(fixture.segmentNames == made.map(\.name))
        #expect(try fixture.records() == before)
        #expect(try fixture.records(Query(reverse: true)) == Array(before.reversed()))
        #expect(try fixture.records(Query(last: 33)) == Array(before.suffix(33)))
    }
}
