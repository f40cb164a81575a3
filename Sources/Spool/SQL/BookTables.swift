internal import Basics
internal import SQLite
internal import Telemetry

/// `peers` and `losses`: the books.
enum BookTables {
    static func peers(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("peer", "TEXT"), ("epoch", "INTEGER"), ("state", "TEXT"), ("apikey", "TEXT"),
            ("fingerprint", "TEXT"), ("pid", "INTEGER"), ("uid", "INTEGER"), ("appeared", "TEXT"),
            ("changed", "TEXT"), ("last_seen", "TEXT"), ("sent", "INTEGER"),
            ("stored", "INTEGER"), ("collapsed", "INTEGER"), ("dropped", "INTEGER"),
            ("missing", "INTEGER"),
        ]
        return ListTable("peers", columns, count: { UInt64(try source.figures().peers) }) { _ in
            try source.peers().map(row)
        }
    }

    private static func row(_ peer: PeerState) -> [SQLValue] {
        let digits = String(peer.fingerprint, radix: 16)
        return [
            .text(peer.instance.identifier), .unsigned(peer.instance.epoch),
            .text(peer.presence.name), .text(peer.apikey),
            .text(String(repeating: "0", count: 8 - digits.count) + digits),
            .integer(Int64(peer.pid)), .integer(Int64(peer.uid)), stamp(peer.appeared),
            stamp(peer.changed), stamp(peer.lastSeen), .unsigned(peer.sent),
            .unsigned(peer.stored), .unsigned(peer.collapsed), .unsigned(peer.dropped),
            .unsigned(peer.missing),
        ]
    }

    /// One row a range of numbers: what was dropped, with the reason, and what is missing.
    static func losses(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("peer", "TEXT"), ("epoch", "INTEGER"), ("what", "TEXT"), ("first", "INTEGER"),
            ("last", "INTEGER"), ("count", "INTEGER"), ("earliest", "TEXT"), ("latest", "TEXT"),
            ("reason", "TEXT"),
        ]
        return ListTable("losses", columns, count: { UInt64(try source.figures().peers) }) { _ in
            // The peers first, as in `intel losses`: what is booked between the two shows early.
            let peers = try source.peers()
            let dropped = try source.losses().map {
                row($0.instance, "dropped", $0.sequences, $0.times, $0.reason)
            }
            let missing = peers.flatMap { peer in
                peer.holes.map {
                    row(peer.instance, "missing", $0.sequences, $0.times, "never arrived")
                }
            }
            return dropped + missing
        }
    }

    private static func row(
        _ instance: PeerInstance,
        _ what: String,
        _ sequences: ClosedRange<UInt64>,
        _ times: ClosedRange<Int64>,
        _ reason: String
    ) -> [SQLValue] {
        let (first, last) = (sequences.lowerBound, sequences.upperBound)
        // All 2^64 numbers have a count that does not fit.
        let (count, over) = (last - first).addingReportingOverflow(1)
        return [
            .text(instance.identifier), .unsigned(instance.epoch), .text(what), .unsigned(first),
            .unsigned(last), .unsigned(over ? .max : count), stamp(times.lowerBound),
            stamp(times.upperBound), .text(reason),
        ]
    }

    /// One row a peer, kind, reason and day: what retention has removed.
    static func removed(_ source: SpoolSource) -> ListTable {
        let columns: [ListTable.Column] = [
            ("peer", "TEXT"), ("kind", "TEXT"), ("reason", "TEXT"), ("records", "INTEGER"),
            ("bytes", "INTEGER"), ("first_store", "INTEGER"), ("last_store", "INTEGER"),
            ("earliest", "TEXT"), ("latest", "TEXT"), ("since", "TEXT"), ("at", "TEXT"),
        ]
        return ListTable("removed", columns, count: { UInt64(try source.figures().peers) }) { _ in
            try source.removed().map { span in
                [
                    .text(span.peer), .text(span.kind), .text(span.reason.rawValue),
                    .unsigned(span.records), .unsigned(span.bytes),
                    .unsigned(span.stores.lowerBound), .unsigned(span.stores.upperBound),
                    stamp(span.times.lowerBound), stamp(span.times.upperBound),
                    stamp(span.since), stamp(span.removedAt),
                ]
            }
        }
    }

    /// A time as text, as in JSON.
    static func stamp(_ unix: Int64) -> SQLValue {
        var printer = StampPrinter()
        var text: [UInt8] = []
        printer.append(unix, to: &text)
        return .text(String(decoding: text, as: UTF8.self))
    }
}
