internal import LinuxIO
internal import NotifyProtocol

/// The memory that clients read: register slots and pool words, handed out and taken back.
///
/// 1. A slot or a pool belongs to one name at a time and reads as zero when it is handed out.
/// 2. Slot 0 is never handed out.
struct RegisterMemory {
    let layout: MemoryLayoutOfBus
    private let bytes: UnsafeMutableRawBufferPointer
    private var freeSlots: [Int] = []
    private var nextSlot = 1
    private var freePools: [Int: [Int]] = [:]
    private var nextPoolWord = 0
    private(set) var slotsInUse = 0
    private(set) var poolWordsInUse = 0

    /// `bytes` must be zero, as long as the layout says, and outlive this value.
    init(layout: MemoryLayoutOfBus, bytes: UnsafeMutableRawBufferPointer) {
        self.layout = layout
        self.bytes = bytes
    }

    /// A zero slot; nil if all are in use.
    mutating func takeSlot() -> Int? {
        if let slot = freeSlots.popLast() {
            slotsInUse += 1
            return slot
        }
        guard nextSlot < layout.slots else { return nil }
        nextSlot += 1
        slotsInUse += 1
        return nextSlot - 1
    }

    /// Takes a slot back.
    mutating func free(slot: Int) {
        store(0, MemoryLayoutOfBus.state(slot))
        store(0, MemoryLayoutOfBus.posts(slot))
        freeSlots.append(slot)
        slotsInUse -= 1
    }

    /// `count` consecutive zero words; nil if there is no room.
    mutating func takePool(_ count: Int) -> Int? {
        if let base = freePools[count]?.popLast() {
            poolWordsInUse += count
            return base
        }
        guard count <= layout.poolWords - nextPoolWord else { return nil }
        nextPoolWord += count
        poolWordsInUse += count
        return nextPoolWord - count
    }

    /// Takes a pool back.
    mutating func free(pool base: Int, count: Int) {
        for index in base..<base + count { store(0, layout.poolWord(index)) }
        freePools[count, default: []].append(base)
        poolWordsInUse -= count
    }

    func setState(_ value: UInt64, of slot: Int) {
        store(value, MemoryLayoutOfBus.state(slot))
    }

    func state(of slot: Int) -> UInt64 {
        load(MemoryLayoutOfBus.state(slot))
    }

    func setPosts(_ value: UInt64, of slot: Int) {
        store(value, MemoryLayoutOfBus.posts(slot))
    }

    func posts(of slot: Int) -> UInt64 {
        load(MemoryLayoutOfBus.posts(slot))
    }

    /// Copies words (little-endian, as they lie in a frame) into a pool.
    ///
    /// What was stored before is visible to whoever sees any of them: a reader that finds them torn
    /// also finds out why.
    func write(_ words: UnsafeRawBufferPointer, at index: Int) {
        SharedWords.fence()
        let start = layout.poolWord(index)
        UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + words.count])
            .copyMemory(from: words)
        SharedWords.fence()
    }

    private func store(_ value: UInt64, _ offset: Int) {
        guard let base = bytes.baseAddress else { return }
        SharedWords.store(value, at: base + offset)
    }

    private func load(_ offset: Int) -> UInt64 {
        guard let base = bytes.baseAddress else { return 0 }
        return SharedWords.load(UnsafeRawPointer(base) + offset)
    }
}
