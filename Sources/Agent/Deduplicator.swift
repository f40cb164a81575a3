internal import Basics
internal import Telemetry

/// Takes every sequence number of an instance exactly once, by an interval set and never by
/// content.
///
/// 1. Every number from 1 to `sent` is either accounted for or in exactly one hole.
/// 2. Holes are ascending and disjoint, and there are at most `Limits.holesMax` of them: the oldest
///    beyond are given up, so that a hostile peer cannot fill the memory.
enum Deduplicator {
    /// Notes a record's number.
    ///
    /// - Parameter givenUp: gets the holes that are closed as lost for good.
    /// - Returns: false if it was accounted for before: the record is a duplicate.
    static func accept(
        _ sequence: UInt64,
        time: Int64,
        in state: inout PeerState,
        givenUp: inout [Hole]
    ) -> Bool {
        guard state.accounted.insert(sequence) else { return false }
        state.stored += 1
        cover(sequence...sequence, since: state.lastTime ?? time, time, in: &state, &givenUp)
        state.lastTime = time
        return true
    }

    /// Notes numbers that the sender or the agent has given up.
    ///
    /// - Returns: those that were not accounted for before.
    static func drop(
        _ sequences: ClosedRange<UInt64>,
        time: Int64,
        in state: inout PeerState,
        givenUp: inout [Hole]
    ) -> [ClosedRange<UInt64>] {
        let new = state.accounted.gaps(in: sequences)
        state.dropped += state.accounted.insert(sequences)
        cover(sequences, since: time, time, in: &state, &givenUp)
        return new
    }

    /// The sender has ended and had given out numbers up to `sent`: what has not come is missing.
    static func finish(sent: UInt64, time: Int64, in state: inout PeerState) {
        guard sent > state.sent else { return }
        let since = min(state.lastTime ?? time, time)
        state.holes.append(Hole(sequences: (state.sent + 1)...sent, times: since...time))
        state.sent = sent
    }

    /// Numbers are accounted for now: those below them that were never seen become a hole, and
    /// holes that they lie in are filled.
    private static func cover(
        _ sequences: ClosedRange<UInt64>,
        since: Int64,
        _ time: Int64,
        in state: inout PeerState,
        _ givenUp: inout [Hole]
    ) {
        if sequences.lowerBound <= state.sent { fill(sequences, in: &state) }
        if sequences.lowerBound > state.sent + 1 {
            let missed = (state.sent + 1)...(sequences.lowerBound - 1)
            let times = min(since, time)...max(since, time)
            state.holes.append(Hole(sequences: missed, times: times))
        }
        state.sent = max(state.sent, sequences.upperBound)
        while state.holes.count > Limits.holesMax {
            let oldest = state.holes.removeFirst()
            state.dropped += state.accounted.insert(oldest.sequences)
            givenUp.append(oldest)
        }
    }

    /// A late arrival fills a hole or cuts one in two; the time spans stay those of the old holes.
    private static func fill(_ sequences: ClosedRange<UInt64>, in state: inout PeerState) {
        var low = 0
        var high = state.holes.count
        while low < high {
            let middle = (low + high) / 2
            if state.holes[middle].sequences.upperBound < sequences.lowerBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        var rest: [Hole] = []
        var end = low
        while end < state.holes.count,
            state.holes[end].sequences.lowerBound <= sequences.upperBound
        {
            let hole = state.holes[end]
            let (first, last) = (hole.sequences.lowerBound, hole.sequences.upperBound)
            if first < sequences.lowerBound {
                rest.append(Hole(sequences: first...(sequences.lowerBound - 1), times: hole.times))
            }
            if last > sequences.upperBound {
                rest.append(Hole(sequences: (sequences.upperBound + 1)...last, times: hole.times))
            }
            end += 1
        }
        state.holes.replaceSubrange(low..<end, with: rest)
    }
}
