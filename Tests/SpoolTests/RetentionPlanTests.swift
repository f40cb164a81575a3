import LinuxIO
import Testing

@testable import Spool

/// What is chosen to go, by numbers alone.
@Suite struct RetentionPlanTests {
    private let disk = DiskSpace(total: 100 << 30, free: 50 << 30)

    /// Ten segments of 100 records and 1000 bytes, received in seconds 1 to 10; two hot batches.
    private var pieces: [RetentionPlan.Piece] {
        let cold = (1...10).map { number -> RetentionPlan.Piece in
            var row = BatchRow(cold: Int64(number))
            (row.t0, row.t1, row.count) = (Int64(number), Int64(number) * 1_000_000_000, 100)
            let segment = SegmentRow(
                name: "\(number)",
                row: row,
                hi: Int64(number),
                batches: 1,
                bytes: 1000
            )
            return RetentionPlan.Piece(place: .segment(segment), bytes: 1000)
        }
        let hot = (11...12).map { number -> RetentionPlan.Piece in
            var row = BatchRow(firstStore: UInt64(number))
            (row.id, row.count, row.t1) = (Int64(number), 50, Int64(number) * 1_000_000_000)
            return RetentionPlan.Piece(place: .batch(row), bytes: 500)
        }
        return cold + hot
    }

    private func plan(_ rules: RetentionRules, disk: DiskSpace? = nil, now: Int64 = 0)
        -> [(count: Int, reason: RemovalReason)]
    {
        let plan = RetentionPlan(
            pieces,
            bytes: 20_000,
            disk: disk ?? self.disk,
            rules: rules,
            now: now
        )
        var found: [(count: Int, reason: RemovalReason)] = []
        for removal in plan.removals {
            if found.last?.reason == removal.reason {
                found[found.count - 1].count += 1
            } else {
                found.append((1, removal.reason))
            }
        }
        return found
    }

    private func isSame(
        _ found: [(count: Int, reason: RemovalReason)],
        _ expected: [(count: Int, reason: RemovalReason)]
    ) -> Bool {
        found.elementsEqual(expected) { $0 == $1 }
    }

    @Test func withoutBoundsNothingGoes() {
        #expect(plan(RetentionRules(), now: .max).isEmpty)
    }

    @Test func theOldestGoForTheirAge() {
        var rules = RetentionRules()
        rules.age = 3_000_000_000
        #expect(isSame(plan(rules, now: 7_000_000_000), [(3, .age)]))
        // Time is that of receiving; a clock at its beginning or end removes nothing by overflow.
        #expect(plan(rules, now: .min).isEmpty)
        rules.age = .max
        #expect(plan(rules, now: -5).isEmpty)
    }

    @Test func theNewestBatchStaysWhateverTheRulesSay() {
        var rules = RetentionRules()
        (rules.age, rules.bytes, rules.records) = (1, 1, 1)
        let found = plan(rules, disk: DiskSpace(total: 1 << 30, free: 0), now: .max)
        #expect(found.reduce(0) { $0 + $1.count } == 11)
    }

    @Test func sizeAndNumberAndTheDiskTakeTheOldestUntilTheyAreMet() {
        var rules = RetentionRules()
        rules.bytes = 17_500
        #expect(isSame(plan(rules), [(3, .size)]))
        rules.records = 600
        #expect(isSame(plan(rules), [(5, .records)]))
        var tight = RetentionRules()
        tight.free = 10_000
        let free = DiskSpace(total: 80_000, free: 8_100)
        #expect(isSame(plan(tight, disk: free), [(2, .disk)]))
        tight.age = 3_000_000_000
        #expect(isSame(plan(tight, disk: free, now: 4_500_000_000), [(1, .age), (1, .disk)]))
    }

    @Test func withoutARuleTheSpoolMayHaveATenthOfTheDisk() {
        let rules = RetentionRules()
        func most(_ total: UInt64) -> UInt64 {
            rules.bytes(on: DiskSpace(total: total, free: total)) >> 20
        }
        #expect([most(24 << 20), most(8 << 30), most(1 << 40)] == [64, 819, 4096])
        #expect(rules.free(on: DiskSpace(total: 24 << 20, free: 0)) == (24 << 20) / 8)
        #expect(rules.free(on: DiskSpace(total: 1 << 40, free: 0)) == 64 << 20)
    }
}
