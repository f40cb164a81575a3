internal import SQLite
internal import Telemetry

/// What all records of a group have in common.
struct GroupFacts {
    /// Records in it.
    var count: Int
    var instance: PeerInstance
    var pid: Int32
    var uid: UInt32
    var kind: String
    var level: UInt8

    /// Puts what a column of them says into `result`.
    func put(_ column: RecordColumn, into result: SQLResult) {
        switch column {
        case .peer: result.set(instance.identifier)
        case .kind: result.set(kind)
        case .level: result.set(Level(rawValue: level)?.name ?? "")
        case .priority: result.set(Int64(level))
        case .epoch: result.set(.unsigned(instance.epoch))
        case .pid: result.set(Int64(pid))
        case .uid: result.set(Int64(uid))
        default: result.setNull()
        }
    }
}

/// A batch that is walked without being opened: all that is told of its records is what their
/// groups tell.
final class ListedBatch {
    let row: Scan.Row
    /// True once it was tried in vain to open it.
    var isUnreadable = false
    /// The row of this walk, from 0.
    private(set) var position = 0
    /// The groups that are wanted, once they have been asked for.
    private var groups: [GroupFacts]?
    private var group = 0
    /// Rows up to the end of the group.
    private var end = 0

    init(_ row: Scan.Row) {
        self.row = row
    }

    /// True once something of a group was told, or a row has gone by: from then on the order is
    /// that of the groups.
    var isTouched: Bool { position > 0 || groups != nil }

    /// Goes to the next row; false if there is none.
    func advance() -> Bool {
        position += 1
        return position < row.wanted
    }

    /// The group of this row; `load` gives those that are wanted, in order.
    func current(_ load: () throws -> [GroupFacts]) rethrows -> GroupFacts? {
        if groups == nil {
            let loaded = try load()
            groups = loaded
            end = loaded.first?.count ?? 0
        }
        let count = groups?.count ?? 0
        while position >= end, group + 1 < count {
            group += 1
            end += groups?[group].count ?? 0
        }
        return position < end ? groups?[group] : nil
    }
}
