/// An array for hot loops: appending is a store and an addition, and its memory is kept for the
/// next use.
///
/// Memory moves when it grows: take addresses only when all is in.
struct GrowingBuffer<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = max(1, capacity)
        base = .allocate(capacity: self.capacity)
    }

    deinit {
        base.deallocate()
    }

    /// What is in it; good until the next change.
    var elements: UnsafeBufferPointer<Element> {
        UnsafeBufferPointer(start: base, count: count)
    }

    mutating func reset() {
        count = 0
    }

    /// Makes sure that `more` elements fit without moving.
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(count + more) }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(count + 1) }
        (base + count).initialize(to: element)
        count += 1
    }

    /// Takes in what was written behind the last element, up to `end`, in reserved room.
    mutating func extend(to end: UnsafeMutablePointer<Element>) {
        count = min(capacity, end - base)
    }

    /// Forgets elements from `count` on.
    mutating func truncate(to count: Int) {
        self.count = min(count, self.count)
    }

    private mutating func grow(_ least: Int) {
        let size = max(least, capacity * 2)
        let room = UnsafeMutablePointer<Element>.allocate(capacity: size)
        room.initialize(from: base, count: count)
        base.deallocate()
        base = room
        capacity = size
    }
}
