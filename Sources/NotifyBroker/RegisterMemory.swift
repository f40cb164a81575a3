internal import LinuxIO
internal import NotifyProtocol

/// Memory that clients map read-only, and the broker alone writes.
public protocol BusMemory: AnyObject {
    /// Zero at first; as long as its layout says.
    var bytes: UnsafeMutableRawBufferPointer { get }
    /// What clients map; -1 where nobody does.
    var descriptor: Int32 { get }
}

/// One memory file and the class of readers that may have it: register slots and pool words, handed
/// out and taken back.
///
/// 1. A slot or a pool belongs to one name at a time and reads as zero when it is handed out.
/// 2. Slot 0 is never handed out.
final class RegisterMemory {
    let number: Int
    /// Who may have it; nil for everybody.
    let readers: Access.Readers?
    let layout: MemoryLayoutOfBus
    let file: any BusMemory
    private let bytes: UnsafeMutableRawBufferPointer
    private var freeSlots: [Int] = []
    private var nextSlot = 1
    private var freePools: [Int: [Int]] = [:]
    private var nextPoolWord = 0
    private(set) var slotsInUse = 0
    private(set) var poolWordsInUse = 0

    init(
        number: Int,
        readers: Access.Readers? = nil,
        layout: MemoryLayoutOfBus,
        file: any BusMemory
    ) {
        self.number = number
        self.readers = readers
        self.layout = layout
        self.file = file
        bytes = file.bytes
    }

    /// A zero slot; nil if all are in use.
    func takeSlot() -> Int? {
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
    func free(slot: Int) {
        store(0, MemoryLayoutOfBus.state(slot))
        store(0, MemoryLayoutOfBus.posts(slot))
        freeSlots.append(slot)
        slotsInUse -= 1
    }

    /// `count` consecutive zero words; nil if there is no room.
    func takePool(_ count: Int) -> Int? {
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
    func free(pool base: Int, count: Int) {
        clear(pool: base, count: count)
        freePools[count, default: []].append(base)
        poolWordsInUse -= count
    }

    /// Sets the words of a pool to zero.
    func clear(pool base: Int, count: Int) {
        // Only what is not zero: a page that nobody has written stays without memory.
        for index in base..<base + count where load(layout.poolWord(index)) != 0 {
            store(0, layout.poolWord(index))
        }
    }

    @inline(__always)
    func setState(_ value: UInt64, of slot: Int) {
        store(value, MemoryLayoutOfBus.state(slot))
    }

    @inline(__always)
    func state(of slot: Int) -> UInt64 {
        load(MemoryLayoutOfBus.state(slot))
    }

    @inline(__always)
    func setPosts(_ value: UInt64, of slot: Int) {
        store(value, MemoryLayoutOfBus.posts(slot))
    }

    @inline(__always)
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
