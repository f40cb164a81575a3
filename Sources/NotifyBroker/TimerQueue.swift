/// Names whose claims end at some time, the soonest first (a binary heap).
///
/// 1. A name is in it once at the most, at `Name.timerIndex`; -1 is outside.
/// 2. A name's key never is later than the end of its claim. It may be earlier: a renewal only
///    changes the claim, and whoever takes the name out looks again.
struct TimerQueue {
    private var heap: [(at: UInt64, name: Name)] = []

    /// When to look next; nil if no claim ends by itself.
    var next: UInt64? { heap.first?.at }

    /// Looks at `name` at that time, or earlier if it is in the queue for an earlier one.
    mutating func add(_ name: Name, at: UInt64) {
        if name.timerIndex >= 0 {
            guard at < heap[name.timerIndex].at else { return }
            heap[name.timerIndex].at = at
        } else {
            name.timerIndex = heap.count
            heap.append((at, name))
        }
        rise(name.timerIndex)
    }

    /// Takes a name out; one that is not in it is fine.
    mutating func remove(_ name: Name) {
        let index = name.timerIndex
        guard index >= 0 else { return }
        name.timerIndex = -1
        guard let last = heap.popLast(), last.name !== name else { return }
        heap[index] = last
        last.name.timerIndex = index
        rise(index)
        sink(last.name.timerIndex)
    }

    /// Takes the first name out if its time has come.
    mutating func take(now: UInt64) -> Name? {
        guard let first = heap.first, first.at <= now else { return nil }
        remove(first.name)
        return first.name
    }

    private mutating func rise(_ start: Int) {
        var index = start
        while index > 0, heap[index].at < heap[(index - 1) / 2].at {
            swap(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].at < heap[least].at {
                least = child
            }
            if least == index { return }
            swap(index, least)
            index = least
        }
    }

    private mutating func swap(_ one: Int, _ two: Int) {
        heap.swapAt(one, two)
        heap[one].name.timerIndex = one
        heap[two].name.timerIndex = two
    }
}
