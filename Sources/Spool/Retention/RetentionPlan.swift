internal import LinuxIO

/// What is to be removed, and why.
///
/// Invariants:
/// 1. The oldest goes first; what is removed for its age, the spool's size, the number of records
///    or the disk is a beginning of the history.
/// 2. The newest hot batch stays, whatever the rules say: who looks finds out that records arrive.
struct RetentionPlan {
    /// A piece of the history that can be removed as a whole.
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
        var records: UInt64 { UInt64(clamping: row.count) }
    }

    /// A piece that goes.
    struct Removal {
        var piece: Piece
        var reason: RemovalReason
    }

    private(set) var removals: [Removal] = []
    /// Bytes and records that are left.
    private(set) var bytes: UInt64
    private(set) var records: UInt64

    /// Chooses from the pieces, oldest first.
    ///
    /// - Parameters:
    ///   - bytes: everything in the spool's folder, what cannot be removed included.
    ///   - now: CLOCK_REALTIME, ns since 1970.
    init(
        _ pieces: [Piece],
        bytes: UInt64,
        disk: DiskSpace,
        rules: RetentionRules,
        now: Int64
    ) {
        self.bytes = bytes
        records = pieces.reduce(0) { $0 + $1.records }
        let most = rules.bytes(on: disk)
        let reserve = rules.free(on: disk)
        var free = disk.free
        let oldest = rules.age.map { now.subtractingReportingOverflow(Int64(clamping: $0)) }
        for piece in pieces.dropLast() {
            let reason: RemovalReason
            if let oldest, !oldest.overflow, piece.row.t1 < oldest.partialValue {
                reason = .age
            } else if let count = rules.records, records > count {
                reason = .records
            } else if self.bytes > most {
                reason = .size
            } else if free < reserve {
                reason = .disk
            } else {
                break
            }
            removals.append(Removal(piece: piece, reason: reason))
            records -= piece.records
            self.bytes -= min(self.bytes, piece.bytes)
            free += piece.bytes
        }
    }
}
