internal import LinuxIO
internal import NotifyProtocol
internal import Synchronization

/// The memory files that the broker has handed out: everybody's, and those of restricted readers.
///
/// A register's *place* is its file's number and its slot as one number; offsets that are made of
/// it (`MemoryLayoutOfBus.state(place)`) have the file's number above the bits of an offset.
final class MemoryViews: Sendable {
    /// Bits of a slot in a place; those of 16 bytes come on top in an offset.
    private static let slotBits = 20
    private static let offsetBits = slotBits + 4

    /// Offsets below lie in everybody's file.
    static let commonEnd = 1 << offsetBits

    /// Everybody's file.
    let common: MemoryView
    /// Where the other files are mapped, by number; 0 where none is.
    private let addresses: WordTable
    /// The same as a plain address: reading through it touches no reference count.
    private let addressesAt: UInt
    /// They stay for the client's life, so that no reader ever holds a dead pointer.
    private let others = Mutex<[Int: MemoryView]>([:])

    init() throws(SystemError) {
        common = try MemoryView(size: MemoryLayoutOfBus.standard.bytes)
        addresses = try WordTable(count: Frames.memoriesMax)
        addressesAt = addresses.address
    }

    /// The place of a register, as the table of tokens keeps it.
    static func place(_ info: NameInfo) -> Int { info.memory << slotBits | info.slot }

    /// The word at an offset that was made of a place.
    @inline(__always)
    func load(_ offset: Int) -> UInt64 {
        let number = offset >> Self.offsetBits
        if number == 0 { return common.load(offset) }
        let table = UnsafeRawPointer(bitPattern: addressesAt).unsafelyUnwrapped
        let base = SharedWords.load(table + (number & (Frames.memoriesMax - 1)) * 8)
        let start = UnsafeRawPointer(bitPattern: UInt(base))
        guard let start else { return 0 }
        return SharedWords.load(start + (offset & (1 << Self.offsetBits - 1)))
    }

    /// The words of a pool, which lie in the file of that number; nil if they do not.
    func pool(_ info: NameInfo, from start: Int, count: Int, _ common: MemoryLayoutOfBus)
        -> UnsafeRawBufferPointer?
    {
        let view: MemoryView? =
            info.memory == 0 ? self.common : others.withLock { $0[info.memory] }
        let layout = info.memory == 0 ? common : MemoryLayoutOfBus.restricted
        let offset = layout.poolWord(info.poolBase + start)
        guard let view, offset >= 0, count >= 0, offset + count * 8 <= view.size else { return nil }
        return UnsafeRawBufferPointer(rebasing: view.bytes[offset..<offset + count * 8])
    }

    /// Maps the file that came beside a frame, if it is one of restricted readers.
    func adopt(_ frame: [UInt8], _ descriptors: [Int32]) {
        guard let descriptor = descriptors.first, let notice = MemoryNotice(frame: frame),
            notice.number > 0, notice.layout == .restricted
        else { return }
        others.withLock { others in
            let known = others[notice.number]
            guard let view = known ?? (try? MemoryView(size: notice.layout.bytes)),
                (try? view.map(descriptor)) != nil
            else { return }
            others[notice.number] = view
            addresses[notice.number] = UInt64(UInt(bitPattern: view.bytes.baseAddress))
        }
    }
}
