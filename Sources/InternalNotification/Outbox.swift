internal import Basics
internal import Telemetry

/// A sender's memory: every message that no collector has stored yet, already as JSON.
///
/// Pure.
///
/// 1. It holds the sequence numbers `first ..< next` without holes.
/// 2. `sent` is the last one that was put into the ring in this session, `stored` the last that
///    is committed or accounted for.
/// 3. Beyond its limits the oldest go, and their numbers are kept in `dropped` until told.
/// 4. Numbers given out = stored + waiting + dropped messages.
struct Outbox {
    /// What goes into one transfer.
    struct Batch: Equatable {
        /// The numbers that it accounts for, without holes.
        var sequences: ClosedRange<UInt64>
        /// A JSON array.
        var json: [UInt8]
        /// Nothing before it is kept: a gap before it stays one.
        var isOldest: Bool
    }

    private static let dropKey = Array(#"{"dropped":["#.utf8)

    private var messages: [[UInt8]] = []
    private var start = 0
    private(set) var first: UInt64 = 1
    private(set) var sent: UInt64 = 0
    private(set) var stored: UInt64 = 0
    /// The last one that went out of the ring again before anybody had taken it.
    private var overwritten: UInt64 = 0
    private(set) var bytes = 0
    private(set) var dropped: [ClosedRange<UInt64>] = []
    /// No transfer of this session has said yet what was dropped.
    private var isDropUntold = false
    /// Messages that a collector has stored.
    private(set) var storedCount: UInt64 = 0
    /// Messages that were given up.
    private(set) var droppedCount: UInt64 = 0

    /// The next sequence number.
    var next: UInt64 { first + UInt64(messages.count - start) }
    /// The last number given out.
    var last: UInt64 { next - 1 }
    var count: Int { messages.count - start }
    var isAllStored: Bool { count == 0 && !isDropUntold }
    var hasUnsent: Bool { sent < last || isDropUntold }
    /// Messages that a collector could not read now: not in the ring yet, or no more.
    var unreadable: UInt64 {
        let overwritten = overwritten >= first ? overwritten - first + 1 : 0
        return last - max(sent, first - 1) + overwritten
    }
    /// Time to hurry, and for careful senders to wait.
    var isHalfFull: Bool {
        count >= Limits.queueMessagesMax / 2 || bytes >= Limits.queueBytesMax / 2
    }

    /// Adds a message that carries the number `next`.
    ///
    /// - Returns: the oldest messages' numbers, if they were dropped to make room.
    mutating func append(_ message: [UInt8]) -> ClosedRange<UInt64>? {
        let before = first
        while count > 0,
            count >= Limits.queueMessagesMax || bytes + message.count > Limits.queueBytesMax
        {
            drop()
        }
        messages.append(message)
        bytes += message.count
        return first > before ? before...(first - 1) : nil
    }

    /// A collector has committed, or accounted for, everything up to `sequence`.
    mutating func acknowledge(_ sequence: UInt64) {
        let upTo = min(sequence, last)
        stored = max(stored, upTo)
        while first <= upTo, count > 0 {
            if !messages[start].starts(with: Self.dropKey) { storedCount += 1 }
            removeFirst()
        }
        sent = max(sent, stored)
        dropped.removeAll { $0.upperBound <= stored }
        if dropped.isEmpty { isDropUntold = false }
    }

    /// A new session: everything not stored goes out again.
    mutating func rewind() {
        sent = max(stored, first - 1)
        overwritten = 0
        isDropUntold = !dropped.isEmpty
    }

    /// The next messages, at most `bytesMax` (but at least one) and `countMax`; nil if nothing
    /// waits.
    func batch(bytesMax: Int, countMax: Int) -> Batch? {
        let from = max(sent + 1, first)
        guard from < next || isDropUntold else { return nil }
        var json: [UInt8] = [UInt8(ascii: "[")]
        for range in dropped {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            Self.append(dropped: range, reason: "sender queue full", to: &json)
        }
        var sequence = from
        while sequence < next, sequence - from < UInt64(countMax) {
            let message = messages[start + Int(sequence - first)]
            if sequence > from, json.count + message.count > bytesMax { break }
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: message)
            sequence += 1
        }
        json.append(UInt8(ascii: "]"))
        if sequence > from {
            return Batch(sequences: from...(sequence - 1), json: json, isOldest: from == first)
        }
        guard let news = dropped.last else { return nil }
        return Batch(sequences: news, json: json, isOldest: true)
    }

    /// What `batch` gave is in the ring now.
    ///
    /// - Parameter oldest: the first number in the ring where nobody takes what is in it.
    mutating func markSent(_ sequences: ClosedRange<UInt64>, oldest: UInt64? = nil) {
        sent = max(sent, sequences.upperBound)
        if let oldest { overwritten = oldest - 1 }
        isDropUntold = false
    }

    /// The message can never be sent: the news that it was dropped goes in its place.
    mutating func giveUp(_ sequence: UInt64) {
        guard sequence >= first, sequence < next else { return }
        let index = start + Int(sequence - first)
        if messages[index].starts(with: Self.dropKey) { return }
        var news: [UInt8] = []
        Self.append(dropped: sequence...sequence, reason: "larger than the ring", to: &news)
        bytes += news.count - messages[index].count
        messages[index] = news
        droppedCount += 1
    }

    private static func append(
        dropped range: ClosedRange<UInt64>,
        reason: String,
        to json: inout [UInt8]
    ) {
        json.append(contentsOf: dropKey)
        json.appendDecimal(range.lowerBound)
        json.append(UInt8(ascii: ","))
        json.appendDecimal(range.upperBound)
        json.append(contentsOf: #"],"reason":""#.utf8)
        json.append(contentsOf: reason.utf8)
        json.append(contentsOf: #""}"#.utf8)
    }

    private mutating func drop() {
        if let range = dropped.last, range.upperBound + 1 == first {
            dropped[dropped.count - 1] = range.lowerBound...first
        } else {
            dropped.append(first...first)
        }
        isDropUntold = true
        if !messages[start].starts(with: Self.dropKey) { droppedCount += 1 }
        removeFirst()
        sent = max(sent, first - 1)
    }

    private mutating func removeFirst() {
        bytes -= messages[start].count
        messages[start] = []
        start += 1
        first += 1
        if start > 1024, start * 2 > messages.count {
            messages.removeSubrange(..<start)
            start = 0
        }
    }
}
