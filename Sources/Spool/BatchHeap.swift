/// A heap of open batches by the key of their next match: the least on top, or the greatest.
struct BatchHeap {
    private var batches: [OpenBatch] = []
    private let reverse: Bool

    init(reverse: Bool) {
        self.reverse = reverse
    }

    var top: OpenBatch? { batches.first }

    mutating func push(_ batch: OpenBatch) {
        batches.append(batch)
        var child = batches.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { return }
            batches.swapAt(child, parent)
            child = parent
        }
    }

    /// Steps the batch on top to its next match, or lets it go if it has none.
    mutating func advanceTop() {
        guard let first = batches.first else { return }
        if first.advance() { sink() } else { dropTop() }
    }

    /// Lets the batch on top go.
    mutating func dropTop() {
        guard !batches.isEmpty else { return }
        batches.swapAt(0, batches.count - 1)
        batches.removeLast()
        sink()
    }

    /// Sends all but the batch on top to rest, if they hold more than `limit` bytes.
    func rest(above limit: Int) {
        var held = 0
        for batch in batches { held += batch.bytes }
        guard held > limit else { return }
        for batch in batches.dropFirst() where !batch.isAtRest { batch.rest() }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < batches.count && precedes(child, best) {
                best = child
            }
            if best == parent { return }
            batches.swapAt(best, parent)
            parent = best
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (batches[left].key, batches[right].key)
        return reverse ? b < a : a < b
    }
}
