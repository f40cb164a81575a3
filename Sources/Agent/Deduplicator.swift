internal import Basics
internal import Telemetry

/// Takes every sequence number of an instance exactly once, by an interval set and never by
/// content.
enum Deduplicator {
    /// Notes a record's number.
    ///
    /// - Returns: false if it was accounted for before: the record is a duplicate.
    static func accept(_ sequence: UInt64, time: Int64, in state: inout PeerState) -> Bool {
        let expected = (state.accounted.last ?? 0) + 1
        guard state.accounted.insert(sequence) else { return false }
        state.stored += 1
        state.sent = max(state.sent, sequence)
        if sequence > expected {
            let since = state.lastTime ?? time
            open(expected...(sequence - 1), min(since, time)...max(since, time), in: &state)
        } else if sequence < expected {
            close(in: &state)
        }
        state.lastTime = time
        return true
    }

    /// Notes numbers that the sender or the agent has given up.
    ///
    /// - Returns: how many of them were not accounted for before.
    static func drop(_ sequences: ClosedRange<UInt64>, time: Int64, in state: inout PeerState)
        -> UInt64
    {
        let expected = (state.accounted.last ?? 0) + 1
        let new = state.accounted.insert(sequences)
        state.dropped += new
        state.sent = max(state.sent, sequences.upperBound)
        if sequences.lowerBound > expected {
            open(expected...(sequences.lowerBound - 1), time...time, in: &state)
        }
        close(in: &state)
        return new
    }

    /// The sender has ended and had given out numbers up to `sent`: what has not come is missing.
    static func finish(sent: UInt64, time: Int64, in state: inout PeerState) {
        let expected = (state.accounted.last ?? 0) + 1
        guard sent >= expected, sent > state.sent else { return }
        state.sent = sent
        let since = min(state.lastTime ?? time, time)
        open(expected...sent, since...time, in: &state)
    }

    private static func open(
        _ sequences: ClosedRange<UInt64>,
        _ times: ClosedRange<Int64>,
        in state: inout PeerState
    ) {
        state.holes.append(Hole(sequences: sequences, times: times))
        guard state.holes.count > Limits.holesMax else { return }
        // The oldest hole is closed as lost for good, so that a hostile peer cannot fill the
        // memory.
        let oldest = state.holes.removeFirst()
        state.dropped += state.accounted.insert(oldest.sequences)
    }

    /// A late arrival fills a hole or cuts one in two; the time spans stay those of the old holes.
    private static func close(in state: inout PeerState) {
        guard !state.holes.isEmpty else { return }
        let old = state.holes
        state.holes = state.accounted.holes(upTo: state.sent).map { range in
            let times = old.first { $0.sequences.overlaps(range) }?.times ?? 0...0
            return Hole(sequences: range, times: times)
        }
    }
}
