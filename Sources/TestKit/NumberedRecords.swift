internal import Basics
public import Spool
public import Telemetry

/// Records that follow from their store number alone, so that one process can write them and
/// another knows what must be there.
public enum NumberedRecords {
    private static let peers: UInt64 = 3

    /// The sender of a record.
    public static func instance(_ number: UInt64) -> PeerInstance {
        PeerInstance(identifier: "com.test.power\(number % peers)", epoch: 1)
    }

    /// What sort of record it is.
    public static func kind(_ number: UInt64) -> String {
        number % 8 < 6 ? "order" : "trace"
    }

    /// Its number in its instance, and its times: a millisecond after the one before.
    public static func envelope(_ number: UInt64) -> Envelope {
        let time = 1_796_000_000_000_000_000 + Int64(number) * 1_000_000
        return Envelope(sequence: (number - 1) / peers + 1, time: time, received: time)
    }

    /// About 1,300 bytes that compress little.
    public static func payload(_ number: UInt64) -> [UInt8] {
        number < UInt64(made.count) ? made[Int(number)] : make(number)
    }

    private static let made = (0..<200).map { make($0) }

    private static func make(_ number: UInt64) -> [UInt8] {
        var text = #"{"n":\#(number),"t":""#
        var mixed = number
        for _ in 0..<100 {
            mixed = mixed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += String(mixed ^ mixed >> 33, radix: 36)
        }
        return Array((text + #""}"#).utf8)
    }

    /// What one commit has: some records, and the books as they are after them.
    public static func commit(_ range: ClosedRange<UInt64>) -> SpoolCommit {
        var batch = RecordBatch()
        for number in range {
            let instance = batch.index(of: instance(number))
            let kind = batch.index(ofKind: kind(number))
            payload(number).withUnsafeBytes {
                batch.append(
                    instance: instance,
                    kind: kind,
                    envelope: envelope(number),
                    payload: $0
                )
            }
        }
        return SpoolCommit(records: batch, peers: books(after: range.upperBound))
    }

    /// The books when the first `number` records have come.
    public static func books(after number: UInt64) -> [PeerState] {
        (1...min(peers, max(1, number))).compactMap { first in
            guard first <= number else { return nil }
            let count = (number - first) / peers + 1
            var state = PeerState(instance: instance(first))
            state.sent = count
            state.stored = count
            state.accounted.insert(1...count)
            return state
        }
    }
}
