/// Open batches by the key of their next match: the least on top, or the greatest.
struct BatchHeap {
    private var queue: PriorityQueue<OpenBatch>

    init(reverse: Bool) {
        queue = PriorityQueue { left, right in
            reverse ? right.key < left.key : left.key < right.key
        }
    }

    var top: OpenBatch? { queue.top }

    mutating func push(_ batch: OpenBatch) {
        queue.push(batch)
    }

    /// Steps the batch on top to its next match, or lets it go if it has none.
    mutating func advanceTop() {
        guard let first = queue.top else { return }
        if first.advance() { queue.settleTop() } else { queue.pop() }
    }

    /// Lets the batch on top go.
    mutating func dropTop() {
        queue.pop()
    }

    /// Sends all but the batch on top to rest, if they hold more than `limit` bytes.
    func rest(above limit: Int) {
        let held = queue.all.reduce(0) { $0 + $1.bytes }
        guard held > limit else { return }
        for batch in queue.rest { batch.rest() }
    }
}
