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
    private var scan: Scan?
    /// The next of the scan's batches.
    private var next = 0
    /// The batch of this row, where it is open.
    private var batch: OpenBatch?
    /// The batch of this row, where it is not.
    private var listed: ListedBatch?
    /// Open batches, while they are merged by time.
    private var heap = BatchHeap(reverse: false)
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
        var made = try source.scan(request.query)
        if isByTime { made.sortByTime(reverse: request.order.isReverse) }
        heap = BatchHeap(reverse: request.order.isReverse)
        scan = made
        try settle()
    }

    func advance() throws {
        if isByTime {
            heap.advanceTop()
            return try settle()
        }
        if let batch {
            if batch.advance() { return }
        } else if listed?.advance() == true {
            return
        }
        try settle()
    }

    private var isByTime: Bool { request.order.key == .time }

    private func finish() {
        if let scan { source.note(scan.report) }
        scan = nil
        batch = nil
        listed = nil
        heap = BatchHeap(reverse: false)
        next = 0
    }

    /// Goes to the next batch that has a row; to the end where there is none.
    private func settle() throws {
        batch = nil
        listed = nil
        if isByTime { return try settleByTime() }
        guard let count = scan?.rows.count else { return }
        while next < count {
            let isReverse = request.order.isReverse
            guard let row = scan?.rows[isReverse ? count - 1 - next : next] else { return }
            next += 1
            if row.isCounted, !request.opens, request.values.isEmpty {
                listed = ListedBatch(row.row, wanted: row.wanted)
                return
            }
            guard let opened = try open(row.row) else { continue }
            if isReverse { opened.reverse() }
            if opened.matches.isEmpty { continue }
            batch = opened
            return
        }
        finish()
    }

    /// As the merge of `SpoolReader`, but by the records' own time.
    private func settleByTime() throws {
        let isReverse = request.order.isReverse
        while true {
            while let row = scan?.rows[safe: next]?.row {
                if let top = heap.top?.key.order, isReverse ? row.time1 < top : row.time0 > top {
                    break
                }
                next += 1
                guard let opened = try open(row) else { continue }
                opened.sortByTime(reverse: isReverse)
                if opened.matches.isEmpty { continue }
                heap.push(opened)
                heap.rest(above: SpoolLimits.mergeBytes)
            }
            guard let top = heap.top else { return finish() }
            if top.isAtRest {
                guard try wake(top) else {
                    heap.dropTop()
                    continue
                }
                heap.rest(above: SpoolLimits.mergeBytes)
            }
            batch = top
            return
        }
    }

    private var needsPayload: Bool {
        request.withPayload || request.query.text != nil || !request.values.isEmpty
    }

    private func open(_ row: BatchRow, withPayload: Bool = false) throws -> OpenBatch? {
        guard var scan else { return nil }
        // Taken out and put back, so that the report has one owner at a time.
        self.scan = nil
        defer { self.scan = scan }
        let wanted = withPayload || needsPayload
        guard let opened = try source.open(row, &scan, withPayload: wanted) else { return nil }
        if let path = request.path, !request.values.isEmpty {
            let values = request.values
            opened.keep { payload in
                let value = path.value(in: payload)
                return values.allSatisfy { $0.mayPass(value) }
            }
        }
        return opened
    }

    private func wake(_ batch: OpenBatch) throws -> Bool {
        guard var scan else { return false }
        self.scan = nil
        defer { self.scan = scan }
        return try source.wake(batch, &scan, withPayload: needsPayload)
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
        guard let opened = try open(listed.row, withPayload: withPayload) else {
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

extension Array {
    /// The element there; nil outside.
    fileprivate subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
