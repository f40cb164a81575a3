internal import SQLite

/// Chooses what of a statement's conditions `records` looks after, and estimates the cost.
struct RecordPlanner {
    let figures: SpoolFigures
    private var plan = VirtualPlan()
    private var names: [String] = []
    /// Share of all records that is left.
    private var share = 1.0
    /// Share of all batches that has to be looked at.
    private var batchShare = 1.0
    private var isSingle = false
    private var hasText = false
    private var hasPath = false
    /// Columns that only matter for conditions that SQLite need not check.
    private var served: UInt64 = 0

    init(_ figures: SpoolFigures) {
        self.figures = figures
    }

    mutating func run(_ request: VirtualRequest) throws -> VirtualPlan {
        for (index, constraint) in request.constraints.enumerated() {
            guard let (column, kind) = Self.served(constraint) else { continue }
            guard constraint.isUsable, plan.uses.count < VirtualPlan.usesMax else {
                // Without its path, `value` would say nothing.
                if column == .path { throw VirtualPlan.Impossible() }
                continue
            }
            take(index, constraint, RecordTest(column, kind))
        }
        let order = take(request.order)
        let needs = needs(request, order)
        if needs.envelope { names.append(needs.payload ? "payload" : "envelope") }
        // Where SQLite sorts, it takes all rows before the first.
        if needs.payload, request.order.isEmpty || plan.isOrdered { takeLimit(request) }
        plan.name = names.joined(separator: " ")
        estimate(needs.envelope, needs.payload)
        return plan
    }

    /// How many rows will be wanted; SQLite counts them itself.
    private mutating func takeLimit(_ request: VirtualRequest) {
        for (index, constraint) in request.constraints.enumerated()
        where constraint.isUsable && plan.uses.count < VirtualPlan.usesMax {
            guard let word = RecordRequest.limitWords[constraint.comparison] else { continue }
            plan.uses.append(.init(index, isExact: false))
            names.append(word)
        }
    }

    /// Whether batches have to be opened whatever happens, and whether with payloads.
    private func needs(
        _ request: VirtualRequest,
        _ order: RecordOrder
    ) -> (envelope: Bool, payload: Bool) {
        var (envelope, payload) = (order.isAsked, false)
        for column in RecordColumn.allCases where request.columns & column.bit != 0 {
            if served & column.bit != 0 { continue }
            if !column.isOfGroup { envelope = true }
            if column.isOfPayload { payload = true }
        }
        return (envelope, payload)
    }

    /// The column and test of a condition that can be served at all.
    private static func served(
        _ constraint: VirtualRequest.Constraint
    ) -> (RecordColumn, RecordTest.Kind)? {
        let isNumber = constraint.column == -1
        guard let column = isNumber ? .store : RecordColumn(rawValue: constraint.column),
            var kind = RecordTest.Kind(constraint.comparison)
        else { return nil }
        if kind == .equal, constraint.isList, column != .path, column != .value { kind = .oneOf }
        switch column {
        case .time: return kind.isOrder && constraint.isBinary ? (column, kind) : nil
        case .peer, .kind:
            if kind == .glob || kind == .like { return (column, kind) }
            return (kind == .equal || kind == .oneOf) && constraint.isBinary ? (column, kind) : nil
        case .level, .id:
            let fits = kind == .equal || kind == .oneOf && column == .level
            return fits && constraint.isBinary ? (column, kind) : nil
        case .epoch: return kind == .equal || kind == .oneOf ? (column, kind) : nil
        case .seq, .store, .priority: return kind.isOrder || kind == .oneOf ? (column, kind) : nil
        case .timeNS: return kind.isOrder ? (column, kind) : nil
        case .text, .payload:
            let fits = kind == .glob || kind == .like || kind == .match
            return fits ? (column, kind) : nil
        case .word: return kind == .match ? (column, kind) : nil
        case .path: return kind == .equal ? (column, kind) : nil
        case .value: return kind.isOrder && constraint.isBinary ? (column, kind) : nil
        case .received, .receivedNS, .pid, .uid: return nil
        }
    }

    private mutating func take(
        _ index: Int,
        _ constraint: VirtualRequest.Constraint,
        _ test: RecordTest
    ) {
        if test.column == .text || test.column == .word || test.column == .payload {
            // A batch is searched for one text; SQLite looks for the others in what is found.
            if hasText { return }
            hasText = true
        }
        if test.column == .path {
            if hasPath { return }
            hasPath = true
        }
        if test.column == .value, constraint.constant == nil { return }
        let isExact = Self.isExact(constraint, test)
        plan.uses.append(.init(index, isExact: isExact, asList: test.kind == .oneOf))
        names.append(test.name)
        if isExact { served |= test.column.bit }
        weigh(test, constraint)
    }

    /// True where SQLite need not look again: the value is known to be of the column's own type, so
    /// that no conversion can come into play.
    private static func isExact(
        _ constraint: VirtualRequest.Constraint,
        _ test: RecordTest
    ) -> Bool {
        if test.column == .path || test.kind == .match { return true }
        switch (test.column, constraint.constant) {
        case (.time, .text), (.peer, .text), (.kind, .text), (.level, .text):
            return test.kind.isOrder
        case (.priority, .integer), (.timeNS, .integer), (.epoch, .integer):
            return test.kind.isOrder
        // Above the greatest there are still the numbers that are texts in SQL.
        case (.seq, .integer(let bound)), (.store, .integer(let bound)):
            return test.kind.isOrder && bound < .max
        default: return false
        }
    }

    private mutating func weigh(_ test: RecordTest, _ constraint: VirtualRequest.Constraint) {
        let isRange = test.kind != .equal && test.kind != .oneOf
        switch test.column {
        case .time, .timeNS:
            let part = timeShare(test, constraint.constant)
            share *= part
            batchShare *= part
        case .peer: share *= isRange ? 0.25 : 1 / Double(figures.peers)
        case .kind: share *= isRange ? 0.25 : 1 / Double(figures.kinds)
        case .level, .priority: share *= isRange ? 0.5 : 0.25
        case .epoch: share *= 1 / Double(figures.peers)
        case .seq: share *= isRange ? 0.25 : 1e-4
        case .store:
            share *= isRange ? 0.25 : 0
            batchShare *= isRange ? 0.25 : 0
            if test.kind == .equal { isSingle = true }
        case .id: share = 0
        case .text, .payload: share *= 0.02
        case .word:
            share *= 0.005
            batchShare *= 0.2
        case .value: share *= test.kind == .equal ? 0.05 : 0.3
        default: break
        }
    }

    /// The part of the history that a bound leaves, by its span; a quarter where the bound comes
    /// later.
    private func timeShare(_ test: RecordTest, _ constant: SQLValue?) -> Double {
        var bounds = TimeBounds()
        switch constant {
        case .text(let text) where test.column == .time: bounds.narrow(test.kind, text)
        case .integer(let number): bounds.narrow(test.kind, number)
        default: return 0.25
        }
        guard !bounds.isEmpty else { return 0 }
        let (oldest, newest) = (Double(figures.oldest), Double(figures.newest))
        let first = max(bounds.since.map(Double.init) ?? oldest, oldest)
        let last = min(bounds.until.map(Double.init) ?? newest, newest)
        return min(1, max(0, (last - first) / max(1, newest - oldest)) + 1e-6)
    }

    /// Takes ORDER BY over where it is one term that this table can sort by.
    private mutating func take(_ terms: [VirtualRequest.Term]) -> RecordOrder {
        var order = RecordOrder()
        guard terms.count == 1, let term = terms.first else { return order }
        let isStore = term.column == -1 || term.column == RecordColumn.store.rawValue
        let isTime =
            term.column == RecordColumn.time.rawValue
            || term.column == RecordColumn.timeNS.rawValue
        guard isStore || isTime else { return order }
        order = RecordOrder(
            key: isTime ? .time : .store,
            isReverse: term.isDescending,
            isAsked: true
        )
        names.append(order.name)
        plan.isOrdered = true
        return order
    }

    /// A row that is handed out costs 1; a record that is unpacked 0.5 and twice that with its
    /// payload; a batch that is only listed 1, and the start 50: a transaction and the names.
    private mutating func estimate(_ envelope: Bool, _ payload: Bool) {
        let records = Double(figures.records)
        let opens = envelope || payload || hasText
        let each = !opens ? 0 : payload || hasText ? 1 : 0.5
        plan.rows = max(1, records * share)
        if isSingle {
            plan.rows = 1
            plan.isUnique = true
            batchShare = 1 / Double(max(1, figures.batches))
        }
        plan.cost =
            50 + Double(figures.batches) + each * records * batchShare + plan.rows
    }
}
