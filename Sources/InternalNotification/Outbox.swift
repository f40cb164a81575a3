internal import Basics
internal import Telemetry

/// A sender's memory: every message that no collector has stored yet, already as JSON.
///
/// Pure.
///
/// 1. It holds the sequence numbers `first ..< next` without holes.
/// 2. `sent` is the last one that was put into the ring in this session, `stored` the last
/// committed.
/// 3. Beyond its limits the oldest go, and their numbers are kept in `dropped` until told.
struct Outbox {
    private var messages: [[UInt8]] = []
    private var start = 0
    private(set) var first: UInt64 = 1
    private(set) var sent: UInt64 = 0
    private(set) var stored: UInt64 = 0
    private(set) var bytes = 0
    private(set) var dropped: [ClosedRange<UInt64>] = []
    private(set) var droppedCount: UInt64 = 0

    /// The next sequence number.
    var next: UInt64 { first + UInt64(messages.count - start) }
    /// The last number given out.
    var last: UInt64 { next - 1 }
    var count: Int { messages.count - start }
    var isAllStored: Bool { count == 0 }
    var hasUnsent: Bool { sent < last }
    /// Time to hurry, and for careful senders to wait.
    var isHalfFull: Bool {
        count >= Limits.queueMessagesMax / 2 || bytes >= Limits.queueBytesMax / 2
    }

    /// Adds a message that carries the number `next`; drops the oldest where there is no room.
    mutating func append(_ message: [UInt8]) {
        while count > 0,
            count >= Limits.queueMessagesMax || bytes + message.count > Limits.queueBytesMax
        {
            drop()
        }
        messages.append(message)
        bytes += message.count
    }

    /// A collector has committed everything up to `sequence`.
    mutating func acknowledge(_ sequence: UInt64) {
        let upTo = min(sequence, last)
        stored = max(stored, upTo)
        while first <= upTo, count > 0 { removeFirst() }
        sent = max(sent, stored)
        dropped.removeAll { $0.upperBound <= stored }
    }

    /// A new session: everything not stored goes out again.
    mutating func rewind() {
        sent = max(stored, first - 1)
    }

    /// The next messages as a JSON array, at most `bytesMax` (but at least one) and `countMax`.
    ///
    /// - Returns: the numbers in it and the text; nil if nothing waits.
    func batch(bytesMax: Int, countMax: Int) -> (sequences: ClosedRange<UInt64>, json: [UInt8])? {
        let from = max(sent + 1, first)
        guard from < next else { return nil }
        var json: [UInt8] = [UInt8(ascii: "[")]
        for range in dropped {
            json.append(contentsOf: #"{"dropped":["#.utf8)
            json.appendDecimal(range.lowerBound)
            json.append(UInt8(ascii: ","))
            json.appendDecimal(range.upperBound)
            json.append(contentsOf: #"],"reason":"sender queue full"},"#.utf8)
        }
        var sequence = from
        while sequence < next, sequence - from < UInt64(countMax) {
            let message = messages[start + Int(sequence - first)]
            if sequence > from, json.count + message.count > bytesMax { break }
            if sequence > from { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: message)
            sequence += 1
        }
        json.append(UInt8(ascii: "]"))
        return (from...(sequence - 1), json)
    }

    /// What `batch` gave is in the ring now.
    mutating func markSent(_ sequences: ClosedRange<UInt64>) {
        sent = max(sent, sequences.upperBound)
    }

    /// The message can never be sent: it is counted as dropped.
    mutating func giveUp(_ sequence: UInt64) {
        guard sequence >= first, sequence < next else { return }
        while first <= sequence { drop() }
    }

    private mutating func drop() {
        if let range = dropped.last, range.upperBound + 1 == first {
            dropped[dropped.count - 1] = range.lowerBound...first
        } else {
            dropped.append(first...first)
        }
        droppedCount += 1
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
