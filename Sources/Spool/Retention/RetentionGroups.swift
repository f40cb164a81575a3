internal import SQLite

/// Which records are counted together: those that no rule fits, all of them; those of a rule that
/// only has an age; and each peer and kind of a rule that counts.
struct RetentionGroups {
    /// Records that are counted together.
    struct Group: Equatable {
        /// The number of the rule; nil where none fits.
        var rule: Int?
        /// Records below this store number are past their age; 0 where nothing is.
        var ageFloor: UInt64 = 0
        /// Records below this are past it by an eighth of it, or more.
        var overdueFloor: UInt64 = 0
        /// Records at the most.
        var records: UInt64?
        /// So many of the newest stay.
        var least: UInt64 = 0

        /// More than this many are too many by an eighth.
        var overdueRecords: UInt64? { records.map { $0 &+ $0 / 8 } }
    }

    private(set) var all: [Group]
    private var ofStream: [Int64: Int] = [:]
    /// True where records must be told apart.
    let tellsApart: Bool

    /// The groups of these rules without any that counts, the first being that of no rule.
    init(_ rules: RetentionRules) {
        all = [Group()]
        tellsApart = !rules.keeps.isEmpty
        for (number, keep) in rules.keeps.enumerated() {
            all.append(Group(rule: number, records: keep.records, least: keep.least))
        }
    }

    /// The groups of the streams of a spool.
    init(_ rules: RetentionRules, _ database: borrowing Database) throws {
        self.init(rules)
        guard tellsApart else { return }
        let list = try database.prepare("SELECT id, peer, kind FROM stream")
        while try list.step() {
            let (peer, kind) = (list.text(1), list.text(2))
            guard let number = rules.keeps.firstIndex(where: { $0.fits(peer: peer, kind: kind) })
            else { continue }
            if rules.keeps[number].counts {
                ofStream[list.integer(0)] = all.count
                all.append(all[number + 1])
            } else {
                ofStream[list.integer(0)] = number + 1
            }
        }
    }

    /// The group of a stream.
    func group(_ stream: Int64) -> Int { ofStream[stream] ?? 0 }

    /// Sets the floors of every group, by its rule.
    mutating func setFloors(_ floors: (_ rule: Int?) -> (age: UInt64, overdue: UInt64)) {
        for index in all.indices {
            (all[index].ageFloor, all[index].overdueFloor) = floors(all[index].rule)
        }
    }
}
