import SQLite
import Telemetry
import Testing

@testable import Spool

extension Fixture {
    /// The book of removals: records by peer and kind.
    func removed() throws -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        for span in try SpoolReader(directory: directory).removed() {
            found["\(span.peer):\(span.kind)", default: 0] += span.records
        }
        return found
    }

    /// What is in one list of records and not in the other, in the same form.
    static func gone(_ before: [Record], _ after: [Record]) -> [String: UInt64] {
        let left = Set(after.map(\.store))
        var found: [String: UInt64] = [:]
        for record in before where !left.contains(record.store) {
            found["\(record.instance.identifier):\(record.kind)", default: 0] += 1
        }
        return found
    }

    /// Runs retention at a moment, which is that of the clock of ages too.
    @discardableResult
    func retain(_ rules: RetentionRules, now: Int64) throws -> Retention.Outcome {
        var retention = try Retention(directory: directory, rules: rules, limits: .small)
        return try retention.run(now: now)
    }

    /// Reads every byte of the spool.
    func verify() throws {
        let found = try Verifier(directory: directory).run()
        #expect(found.damages == [])
    }

    /// Records of two peers and two kinds, in turn: `quick` sends nine of ten, `slow` the rest.
    func storeTurns(_ sequences: ClosedRange<UInt64>, size: UInt64 = 30, at: Int64? = nil) throws {
        var writer = try writer()
        var next = sequences.lowerBound
        while next <= sequences.upperBound {
            let end = min(next + size - 1, sequences.upperBound)
            let records = (next...end).map { number in
                record(
                    number,
                    at: at ?? Int64(number) * 1_000_000_000,
                    peer: number % 10 == 0 ? "slow" : "quick",
                    kind: number % 2 == 0 ? "even" : "odd",
                    payload: #"{"n":\#(number),"text":"some more text, to have bytes"}"#
                )
            }
            _ = try writer.commit(SpoolCommit(records: .init(records)))
            next = end + 1
        }
    }
}

extension CompactionLimits {
    /// Segments of a few hundred records, and a hot tier of about a hundred.
    static let small = CompactionLimits(
        hotBytes: 0,
        keptBytes: 12_000,
        segmentBytes: 24_000,
        smallBytes: 2_000
    )
}

extension RetentionRules {
    /// Bounds as given.
    init(age: UInt64? = nil, bytes: UInt64? = nil, records: UInt64? = nil, _ keeps: [KeepRule]) {
        self.init()
        (self.age, self.bytes, self.records, self.keeps) = (age, bytes, records, keeps)
    }
}

extension KeepRule {
    /// A rule as given.
    init(
        _ peer: String,
        _ kind: String = "*",
        age: UInt64? = nil,
        records: UInt64? = nil,
        least: UInt64 = 0
    ) {
        self.init(peer: Glob(peer), kind: Glob(kind))
        (self.age, self.records, self.least) = (age, records, least)
    }
}
