import LinuxIO
import Telemetry
import Testing

@testable import Spool

/// What is chosen to go, by numbers alone.
@Suite struct RetentionPlanTests {
    private let disk = DiskSpace(total: 100 << 30, free: 50 << 30)

    private func segment(_ number: UInt64, _ counts: [RetentionPlan.Count]) -> RetentionPlan.Piece {
        var row = BatchRow(cold: Int64(number))
        row.add(BatchRow(firstStore: number * 1000))
        row.count = counts.reduce(0) { $0 + $1.records }
        let segment = SegmentRow(name: "\(number)", row: row, hi: 0, batches: 1, bytes: 1000)
        return RetentionPlan.Piece(place: .segment(segment), bytes: 1000, counts: counts)
    }

    private func batch(_ number: UInt64, _ counts: [RetentionPlan.Count]) -> RetentionPlan.Piece {
        var row = BatchRow(firstStore: number * 1000)
        row.id = Int64(number)
        row.count = counts.reduce(0) { $0 + $1.records }
        return RetentionPlan.Piece(place: .batch(row), bytes: 500, counts: counts)
    }

    /// Ten segments of 100 records and 1000 bytes, whose store numbers are from 1000 to 10,000; two
    /// hot batches.
    private var pieces: [RetentionPlan.Piece] {
        let rest = { RetentionPlan.Count(group: 0, records: $0) }
        return (1...10).map { segment($0, [rest(100)]) } + (11...12).map { batch($0, [rest(50)]) }
    }

    private func plan(
        _ rules: RetentionRules,
        disk: DiskSpace? = nil,
        pastAge floor: UInt64 = 0,
        _ pieces: [RetentionPlan.Piece]? = nil
    ) -> RetentionPlan {
        var groups = RetentionGroups(rules)
        groups.setFloors { _ in (floor, 0) }
        return RetentionPlan(
            pieces ?? self.pieces,
            bytes: 20_000,
            disk: disk ?? self.disk,
            rules: rules,
            groups: groups
        )
    }

    /// Pieces that go as a whole, by reason.
    private func counts(_ plan: RetentionPlan) -> [String] {
        var found: [(count: Int, reason: RemovalReason)] = []
        for removal in plan.removals {
            let reason = removal.shares[0].reason
            #expect(removal.isWhole)
            if found.last?.reason == reason {
                found[found.count - 1].count += 1
            } else {
                found.append((1, reason))
            }
        }
        return found.map { "\($0.count) \($0.reason)" }
    }

    @Test func withoutBoundsNothingGoes() {
        #expect(plan(RetentionRules()).removals.isEmpty)
    }

    @Test func theOldestGoForTheirAge() {
        #expect(counts(plan(RetentionRules(), pastAge: 4000)) == ["3 age"])
        #expect(counts(plan(RetentionRules(), pastAge: 4001)) == ["4 age"])
    }

    @Test func theNewestBatchStaysWhateverTheRulesSay() {
        var rules = RetentionRules()
        (rules.bytes, rules.records) = (1, 1)
        let found = plan(rules, disk: DiskSpace(total: 1 << 30, free: 0), pastAge: .max)
        #expect(found.removals.count == 11)
        #expect(found.unmet == [.records, .size, .disk])
    }

    @Test func sizeAndNumberAndTheDiskTakeTheOldestUntilTheyAreMet() {
        var rules = RetentionRules()
        rules.bytes = 17_500
        #expect(counts(plan(rules)) == ["3 size"])
        rules.records = 600
        #expect(counts(plan(rules)) == ["5 records"])
        var tight = RetentionRules()
        tight.free = 10_000
        let free = DiskSpace(total: 80_000, free: 8_100)
        #expect(counts(plan(tight, disk: free)) == ["2 disk"])
        #expect(counts(plan(tight, disk: free, pastAge: 2000)) == ["1 age", "1 disk"])
        #expect(plan(rules).unmet == [])
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

    // MARK: Rules

    private func rules(_ keep: (inout KeepRule) -> Void) -> RetentionRules {
        var rule = KeepRule(peer: Glob("p"))
        keep(&rule)
        var rules = RetentionRules()
        rules.keeps = [rule]
        return rules
    }

    /// Segments in which a tenth is of the rule's group.
    private var mixed: [RetentionPlan.Piece] {
        (1...20).map {
            segment($0, [.init(group: 0, records: 90), .init(group: 1, records: 10)])
        } + [batch(21, [.init(group: 0, records: 1)])]
    }

    @Test func aSegmentIsRewrittenOnlyWhereItIsWorthIt() {
        // A tenth of each segment is past its age, but only just.
        var groups = RetentionGroups(rules { $0.age = 1 })
        groups.setFloors { $0 == nil ? (0, 0) : (3000, 0) }
        func plan() -> RetentionPlan {
            RetentionPlan(
                mixed,
                bytes: 0,
                disk: disk,
                rules: rules { $0.age = 1 },
                groups: groups
            )
        }
        #expect(plan().removals.isEmpty)
        // Past it by an eighth: all that is due goes.
        groups.setFloors { $0 == nil ? (0, 0) : (3000, 1001) }
        #expect(plan().removals.map(\.going) == [10, 10])
        #expect(plan().removals.allSatisfy { !$0.isWhole && $0.shares[0].reason == .age })
        // One run rewrites so many; the others are left for the next.
        groups.setFloors { $0 == nil ? (0, 0) : (30_000, 1001) }
        #expect(plan().removals.count == Limits.rewritesAtOnce && plan().isUnfinished)
    }

    @Test func whatIsKeptOutdoesEveryBound() {
        var rules = rules { $0.least = 95 }
        rules.bytes = 1
        let found = plan(rules, mixed)
        // All but 95 of the 200 in the group go first, as far as one run rewrites.
        #expect(found.removals.count == 10 + Limits.rewritesAtOnce)
        #expect(found.isUnfinished && found.unmet == [])
        let kept = found.removals.flatMap(\.shares).filter { $0.group == 1 }
        #expect(kept.reduce(0) { $0 + $1.going } == 105)
        // Once that is done nothing is left, which is told.
        let rest = (1...9).map { segment($0, [.init(group: 1, records: 10)]) }
        let last = plan(rules, rest + [batch(21, [.init(group: 1, records: 1)])])
        #expect(last.removals.isEmpty && last.unmet == [.size])
    }

    @Test func aHotBatchThatMixesBecomesColdFirst() {
        let rules = rules { $0.records = 10 }
        let hot = (1...5).map {
            batch($0, [.init(group: 0, records: 5), .init(group: 1, records: 5)])
        }
        let found = plan(rules, hot)
        #expect(found.removals.isEmpty && found.coldUpTo == 3)
        let own = (1...5).map { batch($0, [.init(group: 1, records: 5)]) }
        #expect(plan(rules, own).removals.count == 3)
    }

    /// Random pieces of four groups: no rule, an age, a number, a least.
    private func random(_ dice: inout Dice) -> (RetentionPlan, [RetentionPlan.Piece], UInt64) {
        let least = UInt64.random(in: 0...200, using: &dice)
        var rules = RetentionRules(
            records: Bool.random(using: &dice) ? UInt64.random(in: 0...2000, using: &dice) : nil,
            [
                KeepRule("a", age: 1),
                KeepRule("b", records: UInt64.random(in: 1...300, using: &dice)),
                KeepRule("c", least: least),
            ]
        )
        rules.bytes = Bool.random(using: &dice) ? UInt64.random(in: 0...20_000, using: &dice) : nil
        let cold = UInt64.random(in: 0...20, using: &dice)
        let pieces = (1...30 as ClosedRange<UInt64>).map { number -> RetentionPlan.Piece in
            let counts = (0...3).compactMap { group -> RetentionPlan.Count? in
                let count = Int.random(in: -30...40, using: &dice)
                return count > 0 ? .init(group: group, records: count) : nil
            }
            return number <= cold ? segment(number, counts) : batch(number, counts)
        }
        var groups = RetentionGroups(rules)
        let floor = UInt64.random(in: 0...32_000, using: &dice)
        groups.setFloors { rule in rule == 0 ? (floor, floor / 2) : (floor / 3, floor / 4) }
        let plan = RetentionPlan(
            pieces,
            bytes: 20_000,
            disk: disk,
            rules: rules,
            groups: groups
        )
        return (plan, pieces, least)
    }

    @Test("case 19: of each group, where something newer goes, all that is older goes")
    func suffix() {
        var waits = 0
        for seed in 1...2000 as ClosedRange<UInt64> {
            var dice = Dice(state: seed)
            let (plan, pieces, least) = random(&dice)
            if plan.isUnfinished || plan.coldUpTo != nil { waits += 1 }
            for group in 0...3 {
                var left = 0
                var isStopped = false
                for piece in pieces {
                    let count = piece.groups.first { $0.group == group }?.records ?? 0
                    let removal = plan.removals.first { $0.piece.row == piece.row }
                    let going = removal?.shares.first { $0.group == group }?.going ?? 0
                    #expect(going == 0 || !isStopped, "seed \(seed), group \(group)")
                    if going < count { isStopped = true }
                    left += count - going
                }
                let total = pieces.flatMap(\.groups).filter { $0.group == group }
                let all = total.reduce(0) { $0 + $1.records }
                if group == 3 { #expect(left >= min(all, Int(least)), "seed \(seed)") }
            }
        }
        #expect(waits > 100)
    }
}
