internal import LinuxIO
internal import Telemetry

/// What is to be removed, and why.
///
/// Invariants:
/// 1. The oldest goes first. What is left of each peer and kind is the end of its history, and so
///    is what is left of all those together that no rule fits. Where a part of a piece cannot go
///    now, nothing newer under the same rule goes either.
/// 2. `least` outdoes every bound.
/// 3. The newest piece stays, whatever the rules say: who looks finds out that records arrive.
/// 4. A piece of which only a part goes is a segment, which is written anew. That is done where a
///    quarter of one is to go, where something has been due for an eighth of its age or number, or
///    where a bound of the whole spool demands it; then all that is due goes with it.
struct RetentionPlan {
    /// A piece of the history.
    struct Piece {
        enum Place: Equatable {
            case segment(SegmentRow)
            case batch(BatchRow)
        }

        var place: Place

        /// The plain columns of all of it.
        var row: BatchRow {
            switch place {
            case .segment(let segment): segment.row
            case .batch(let row): row
            }
        }

        /// Bytes on the disk.
        var bytes: UInt64
        /// Its records, by group; nil where all are of the group without a rule.
        var counts: [Count]?
        /// False where it was tried to rewrite it, and it could not be read.
        var isReadable = true
        var records: Int { max(0, row.count) }

        /// Records by group.
        var groups: [Count] { counts ?? [Count(group: 0, records: records)] }

        var isSegment: Bool {
            if case .segment = place { true } else { false }
        }
    }

    /// Records of a group in a piece.
    struct Count: Equatable {
        var group: Int
        var records: Int
    }

    /// What goes of one group in one piece: its oldest.
    struct Share: Equatable {
        var group: Int
        /// Records of the group in the piece.
        var records: Int
        /// The newest, which stay for `least`.
        var kept = 0
        /// The oldest, which are too many.
        var excess = 0
        /// True where all but those kept go, for a bound of the whole spool.
        var isForced = false
        /// How many go; of a segment that spans the bound of an age, about.
        var going = 0
        var reason = RemovalReason.age

        /// How many go where so many are past their age.
        func going(pastAge: Int) -> Int {
            isForced ? records - kept : min(records - kept, max(excess, pastAge))
        }
    }

    /// A piece that goes, or a part of it.
    struct Removal {
        var piece: Piece
        var shares: [Share]
        var going: Int { shares.reduce(0) { $0 + $1.going } }
        var isWhole: Bool { going == piece.records }
    }

    private(set) var removals: [Removal] = []
    /// True where more is to go at once, after this.
    private(set) var isUnfinished = false
    /// Hot batches up to this number have parts that are to go: they should become cold.
    private(set) var coldUpTo: Int64?
    /// Bounds that are not met though nothing is left to remove.
    private(set) var unmet: [RemovalReason] = []
    private(set) var left: Left
    /// Segments of which a part should go, and that cannot be read.
    private(set) var passedOver: [String] = []

    private let groups: [RetentionGroups.Group]
    /// Rules of which something goes.
    private var ripe: Set<Int> = []
    /// Rules of which nothing newer can go.
    private var blocked: Set<Int> = []
    private var rewrites = 0

    /// What is left, and what may be.
    struct Left {
        var bytes: UInt64
        var records: UInt64
        var free: UInt64
        var bytesMax: UInt64
        var recordsMax: UInt64?
        var freeLeast: UInt64

        var unmet: [RemovalReason] {
            var found: [RemovalReason] = []
            if let recordsMax, records > recordsMax { found.append(.records) }
            if bytes > bytesMax { found.append(.size) }
            if free < freeLeast { found.append(.disk) }
            return found
        }

        mutating func take(records count: Int, bytes size: UInt64) {
            records -= min(records, UInt64(count))
            bytes -= min(bytes, size)
            free += size
        }
    }

    /// Chooses from the pieces, oldest first.
    ///
    /// - Parameter bytes: everything in the spool's folder, what cannot be removed included.
    init(
        _ pieces: [Piece],
        bytes: UInt64,
        disk: DiskSpace,
        rules: RetentionRules,
        groups: RetentionGroups
    ) {
        self.groups = groups.all
        left = Left(
            bytes: bytes,
            records: pieces.reduce(0) { $0 + UInt64($1.records) },
            free: disk.free,
            bytesMax: rules.bytes(on: disk),
            recordsMax: rules.records,
            freeLeast: rules.free(on: disk)
        )
        let shares = shares(pieces)
        findRipe(pieces, shares)
        for (piece, shares) in zip(pieces, shares).dropLast() { choose(piece, shares) }
        if !isUnfinished, coldUpTo == nil { unmet = left.unmet }
    }

    private func key(_ share: Share) -> Int { groups[share.group].rule ?? -1 }

    /// What stays, is too many, and is due of every piece, by the newer ones.
    private func shares(_ pieces: [Piece]) -> [[Share]] {
        var newer = [Int](repeating: 0, count: groups.count)
        var all: [[Share]] = []
        for piece in pieces.reversed() {
            var found: [Share] = []
            for count in piece.groups {
                let group = groups[count.group]
                var share = Share(group: count.group, records: count.records)
                let isHere = 0...count.records
                share.kept = isHere.clamp(Int(clamping: group.least) - newer[count.group])
                if let most = group.records {
                    share.excess = isHere.clamp(
                        newer[count.group] + count.records - Int(clamping: most)
                    )
                }
                newer[count.group] += count.records
                let pastAge = Self.estimate(count.records, of: piece, below: group.ageFloor)
                share.going = share.going(pastAge: pastAge)
                share.reason = pastAge >= share.going ? .age : .records
                found.append(share)
            }
            all.append(found)
        }
        return all.reversed()
    }

    /// Of so many records of a piece those below a floor; about, where it spans that.
    private static func estimate(_ count: Int, of piece: Piece, below floor: UInt64) -> Int {
        let (first, last) = (piece.row.firstStore, piece.row.lastStore)
        if floor > last { return count }
        if floor <= first || !piece.isSegment { return 0 }
        return Int(Double(count) * Double(floor - first) / (Double(last - first) + 1))
    }

    /// Of which rules enough is due to write segments anew.
    private mutating func findRipe(_ pieces: [Piece], _ all: [[Share]]) {
        var totals = [UInt64](repeating: 0, count: groups.count)
        for (piece, shares) in zip(pieces, all) {
            let due = shares.reduce(0) { $0 + $1.going }
            let isMuch = piece.isSegment ? due >= max(1, piece.records / 4) : due == piece.records
            for share in shares {
                totals[share.group] += UInt64(share.records)
                let isOverdue = piece.row.firstStore < groups[share.group].overdueFloor
                if share.going > 0, isMuch || isOverdue { ripe.insert(key(share)) }
            }
        }
        for (group, total) in zip(groups, totals) {
            if let most = group.overdueRecords, total > most { ripe.insert(group.rule ?? -1) }
        }
    }

    /// Decides about the next piece.
    private mutating func choose(_ piece: Piece, _ due: [Share]) {
        let forced = left.unmet.first
        var shares: [Share] = []
        for var share in due {
            if let forced, share.going < share.records - share.kept {
                share.isForced = true
                share.going = share.records - share.kept
                share.reason = forced
            }
            guard share.going > 0 else { continue }
            if forced == nil, !ripe.contains(key(share)) {
                // It stays for now, and so does what is newer.
                blocked.insert(key(share))
            } else {
                shares.append(share)
            }
        }
        let removal = Removal(piece: piece, shares: shares)
        if shares.isEmpty { return }
        let isPart = !removal.isWhole
        if isPart, !piece.isReadable, case .segment(let segment) = piece.place {
            return passedOver.append(segment.name)
        }
        let mustWait = shares.contains { blocked.contains(key($0)) }
        if mustWait || isPart && (!piece.isSegment || rewrites == Limits.rewritesAtOnce) {
            for share in shares { blocked.insert(key(share)) }
            if piece.isSegment { isUnfinished = true } else { coldUpTo = piece.row.id }
        } else {
            if isPart { rewrites += 1 }
            removals.append(removal)
        }
        let part = Double(removal.going) / Double(max(1, piece.records))
        left.take(records: removal.going, bytes: UInt64(Double(piece.bytes) * part))
    }
}

extension ClosedRange<Int> {
    /// The number of the range that is nearest to `number`.
    fileprivate func clamp(_ number: Int) -> Int {
        Swift.min(Swift.max(number, lowerBound), upperBound)
    }
}
