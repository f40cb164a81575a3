/// Records of one batch with the same stream, instance and level: what filters by peer, kind and
/// level need to know, so that counts come without opening the batch.
struct BatchGroup: Equatable {
    /// Row of `stream`: identifier and kind.
    var stream: Int64
    /// Row of `peer_state`: the instance.
    var instance: Int64
    /// 0 to 7.
    var level: UInt8
    /// Records in it.
    var count: Int
    /// Bounds of their sequence numbers; all numbers in a hot batch, which does not say.
    var sequences: ClosedRange<UInt64> = 0 ... .max
}

extension [BatchGroup] {
    /// For each group a small number of its instance, counted in the order of first appearance:
    /// what the column codec keeps its predecessors by.
    ///
    /// Both sides derive it alike.
    var slots: (ofGroup: [Int], count: Int) {
        var known: [Int64: Int] = [:]
        let ofGroup = map { group in
            if let slot = known[group.instance] { return slot }
            known[group.instance] = known.count
            return known.count - 1
        }
        return (ofGroup, known.count)
    }
}
