internal import CSQLite

extension VirtualRequest {
    /// What SQLite asks.
    init(_ info: UnsafeMutablePointer<sqlite3_index_info>) {
        let asked = info.pointee
        constraints = (0..<Int(asked.nConstraint)).compactMap { index in
            asked.aConstraint.map { Constraint($0[index], Int32(index), info) }
        }
        order = (0..<Int(asked.nOrderBy)).compactMap { index in
            asked.aOrderBy.map {
                Term(column: Int($0[index].iColumn), isDescending: $0[index].desc != 0)
            }
        }
        columns = asked.colUsed
    }
}

extension VirtualRequest.Constraint {
    init(
        _ constraint: sqlite3_index_constraint,
        _ index: Int32,
        _ info: UnsafeMutablePointer<sqlite3_index_info>
    ) {
        column = Int(constraint.iColumn)
        comparison = VirtualRequest.Comparison(Int32(constraint.op))
        isUsable = constraint.usable != 0
        isBinary = sqlite3_vtab_collation(info, index).map { String(cString: $0) } == "BINARY"
        isList = isUsable && sqlite3_vtab_in(info, index, -1) != 0
        var value: OpaquePointer?
        let code = sqlite3_vtab_rhs_value(info, index, &value)
        constant = code == SQLITE_OK && value != nil ? SQLValue(value) : nil
    }
}

extension VirtualRequest.Comparison {
    init(_ code: Int32) {
        switch code {
        case SQLITE_INDEX_CONSTRAINT_EQ: self = .equal
        case SQLITE_INDEX_CONSTRAINT_LT: self = .less
        case SQLITE_INDEX_CONSTRAINT_LE: self = .lessOrEqual
        case SQLITE_INDEX_CONSTRAINT_GT: self = .greater
        case SQLITE_INDEX_CONSTRAINT_GE: self = .greaterOrEqual
        case SQLITE_INDEX_CONSTRAINT_MATCH: self = .match
        case SQLITE_INDEX_CONSTRAINT_LIKE: self = .like
        case SQLITE_INDEX_CONSTRAINT_GLOB: self = .glob
        case SQLITE_INDEX_CONSTRAINT_LIMIT: self = .limit
        case SQLITE_INDEX_CONSTRAINT_OFFSET: self = .offset
        default: self = .other
        }
    }
}

extension VirtualPlan {
    /// Tells SQLite the plan.
    ///
    /// Its number is ours: one bit an argument that comes as a list.
    func write(to info: UnsafeMutablePointer<sqlite3_index_info>) -> Int32 {
        var lists: Int32 = 0
        guard uses.count <= Self.usesMax else { return SQLITE_MISUSE }
        for (argument, use) in uses.enumerated() {
            guard use.constraint < info.pointee.nConstraint,
                let target = info.pointee.aConstraintUsage
            else { return SQLITE_MISUSE }
            target[use.constraint].argvIndex = Int32(argument + 1)
            target[use.constraint].omit = use.isExact ? 1 : 0
            if use.asList {
                lists |= 1 << Int32(argument)
                _ = sqlite3_vtab_in(info, Int32(use.constraint), 1)
            }
        }
        guard let text = VirtualModule.allocated(name) else { return SQLITE_NOMEM }
        info.pointee.idxNum = lists
        info.pointee.idxStr = text
        info.pointee.needToFreeIdxStr = 1
        info.pointee.estimatedCost = cost
        info.pointee.estimatedRows = Int64(min(max(rows, 1), 1e15))
        info.pointee.orderByConsumed = isOrdered ? 1 : 0
        if isUnique { info.pointee.idxFlags = SQLITE_INDEX_SCAN_UNIQUE }
        return SQLITE_OK
    }
}
