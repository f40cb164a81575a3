internal import Basics
internal import SQLite
internal import Telemetry

/// One walk over `records`.
///
/// Batches that need not be opened are walked by their groups alone. Whatever is open is a copy:
/// between two rows no transaction runs on hot.db, however slow whoever reads the rows is.
final class RecordCursor: VirtualCursor {
    private let source: SpoolSource
    private var request = RecordRequest()
    /// Where rows are wanted in an order, or need their records at once.
    private var merge: RecordMerge?
    /// Where they are not: the batches that are still to come, the last one first.
    private var pending: [Scan.Row] = []
    private var scan: Scan?
    /// Where they are searched.
    private var ahead: ReadAhead?
    /// The batch of this row, where it is open.
    private var batch: OpenBatch?
    /// The batch of this row, where it is not.
    private var listed: ListedBatch?
    private var time = StampPrinter()
    private var received = StampPrinter()
    private var stamp: [UInt8] = []

    init(_ source: SpoolSource) {
        self.source = source
    }

    deinit {
        finish()
    }

    var isAtEnd: Bool { batch == nil && listed == nil }

    func start(_ plan: String, _ arguments: [VirtualArgument]) throws {
        finish()
        request = try RecordRequest(plan, arguments)
        if request.isEmpty { return }
        let made = try source.scan(request.query)
        if request.opens {
            merge = RecordMerge(
                made,
                by: request.order.key == .time ? .time : .store,
                reverse: request.order.isReverse,
                withPayload: request.withPayload,
                // A join comes back for single numbers again and again.
                isWhole: request.query.conditions.stores.isOpen,
                expected: request.expected
            )
        } else {
            walk(made)
        }
        try settle()
    }

    func advance() throws {
        if merge == nil {
            if let batch, batch.advance() { return }
            if batch == nil, listed?.advance() == true { return }
        }
        try settle()
    }

    private func finish() {
        if let scan = merge?.scan ?? scan { source.note(scan.report) }
        merge = nil
        scan = nil
        ahead = nil
        pending = []
        batch = nil
        listed = nil
    }

    /// Goes to the next batch that has a row; to the end where there is none.
    private func settle() throws {
        batch = nil
        listed = nil
        if merge != nil {
            batch = try merge.take { merge throws in try source.next(&merge) } ?? nil
            if batch == nil { finish() }
            return
        }
        while let row = pending.popLast() {
            do {
                if try take(row) { return }
            } catch is Vanished {
                try walkAgain(from: row)
            }
        }
        finish()
    }

    /// Begins a walk batch by batch, in the order of the store numbers.
    private func walk(_ made: Scan) {
        scan = made
        ahead = nil
        pending = made.rows.sorted { $0.row.firstStore > $1.row.firstStore }
    }

    /// Goes on with a walk from a row that a compaction has moved.
    private func walkAgain(from row: Scan.Row) throws {
        guard let old = scan else { return }
        var made = try source.scan(again: old)
        made.skip(upTo: row.row.firstStore &- 1)
        walk(made)
    }

    /// Comes to a row of the walk; false if nothing of it is wanted.
    private func take(_ row: Scan.Row) throws -> Bool {
        if case .segment(let segment) = row.place {
            let batches = try scan.take { scan throws in try source.batches(of: segment, &scan) }
            pending += (batches ?? []).reversed()
            lookAhead(batches ?? [])
            return false
        }
        if row.isCounted {
            listed = ListedBatch(row)
        } else {
            batch = try open(row, withPayload: request.withPayload)
        }
        if batch?.matches.isEmpty == true { batch = nil }
        return !isAtEnd
    }

    private func open(_ row: Scan.Row, withPayload: Bool) throws -> OpenBatch? {
        try scan.take { scan throws in
            try source.open(row, &scan, withPayload: withPayload, ahead)
        } ?? nil
    }

    /// Has batches unpacked before they are wanted where most are unpacked for nothing.
    private func lookAhead(_ batches: [Scan.Row]) {
        guard let scan, scan.query.text != nil || scan.query.conditions.payload != nil else {
            return
        }
        let unknown = batches.filter { !$0.isCounted }
        ReadAhead.add(unknown, to: &ahead, scan, withPayload: request.withPayload)
    }

    func rowNumber() throws -> Int64 {
        if batch == nil { try unpack(withPayload: false) }
        var number: Int64 = 0
        _ = batch?.emit { record in
            number = Int64(bitPattern: record.store)
            return true
        }
        return number
    }

    func column(_ index: Int, into result: SQLResult) throws {
        guard let column = RecordColumn(rawValue: index) else { return result.setNull() }
        if column == .path { return result.set(request.pathText.map { .text($0) } ?? .null) }
        if batch == nil {
            if column.isOfGroup {
                let facts = try listed?.current {
                    guard let scan, let listed else { return [] }
                    return try source.facts(listed.row, scan)
                }
                guard let facts else { return result.setNull() }
                return facts.put(column, into: result)
            }
            try unpack(withPayload: column.isOfPayload)
        }
        guard let batch else { return result.setNull() }
        _ = batch.emit { record in
            put(column, record, into: result)
            return true
        }
    }

    /// Opens the batch of this row after all, because a number of a single record is asked for.
    ///
    /// The rows that have gone by were counted group by group, so that is the order from here on.
    private func unpack(withPayload: Bool) throws {
        guard let listed, !listed.isUnreadable else { return }
        let opened: OpenBatch?
        do {
            opened = try open(listed.row, withPayload: withPayload || request.withPayload)
        } catch is Vanished {
            if listed.isTouched { throw Moved() }
            try walkAgain(from: listed.row)
            try settle()
            return try unpack(withPayload: withPayload)
        }
        guard let opened else {
            listed.isUnreadable = true
            return
        }
        if listed.isTouched { opened.sortByGroup(at: listed.position) }
        if opened.position >= opened.matches.count { return }
        self.listed = nil
        batch = opened
    }

    private func put(
        _ column: RecordColumn,
        _ record: borrowing RecordView,
        into result: SQLResult
    ) {
        let envelope = record.envelope
        switch column {
        case .time: put(envelope.time, &time, result)
        case .received: put(envelope.received, &received, result)
        case .peer: result.set(record.instance.identifier)
        case .kind: result.set(record.kind)
        case .level: result.set(envelope.level.name)
        case .seq: result.set(.unsigned(envelope.sequence))
        case .epoch: result.set(.unsigned(record.instance.epoch))
        case .id: result.set(record.id.description)
        case .store: result.set(.unsigned(record.store))
        case .pid: result.set(Int64(record.pid))
        case .uid: result.set(Int64(record.uid))
        case .payload, .text:
            if record.payload.isEmpty {
                result.set("null")
            } else {
                result.set(text: record.payload)
            }
        case .word:
            ([RecordColumn.wordMark] + record.payload).withUnsafeBytes { result.set(text: $0) }
        case .path: result.setNull()
        case .value: result.set(request.path?.value(in: record.payload) ?? .null)
        case .timeNS: result.set(envelope.time)
        case .receivedNS: result.set(envelope.received)
        case .priority: result.set(Int64(envelope.level.rawValue))
        }
    }

    private func put(_ unix: Int64, _ printer: inout StampPrinter, _ result: SQLResult) {
        stamp.removeAll(keepingCapacity: true)
        printer.append(unix, to: &stamp)
        stamp.withUnsafeBytes { result.set(text: $0) }
    }
}

/// A compaction came between two columns of one row.
private struct Moved: Error, CustomStringConvertible {
    var description: String { "the batch of this row has moved meanwhile: run the statement again" }
}

extension Optional {
    /// Takes the value out, and puts it back after `body`, so that it has one owner at a time.
    fileprivate mutating func take<Result>(
        _ body: (inout Wrapped) throws -> Result
    ) rethrows -> Result? {
        guard var value = self else { return nil }
        self = nil
        defer { self = value }
        return try body(&value)
    }
}
