/// A binary heap: what comes first is on top.
struct PriorityQueue<Element> {
    private var items: [Element] = []
    private let precedes: (Element, Element) -> Bool

    /// An empty queue; `precedes` says which of two comes first.
    init(_ precedes: @escaping (Element, Element) -> Bool) {
        self.precedes = precedes
    }

    var top: Element? { items.first }
    /// All but the top, in no order.
    var rest: ArraySlice<Element> { items.dropFirst() }
    /// All, in no order.
    var all: [Element] { items }

    mutating func push(_ item: Element) {
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(items[child], items[parent]) else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the top out.
    @discardableResult
    mutating func pop() -> Element? {
        guard !items.isEmpty else { return nil }
        items.swapAt(0, items.count - 1)
        let taken = items.removeLast()
        settleTop()
        return taken
    }

    /// Puts the top where it belongs after it has changed.
    mutating func settleTop() {
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && precedes(items[child], items[best]) {
                best = child
            }
            if best == parent { return }
            items.swapAt(best, parent)
            parent = best
        }
    }
}
