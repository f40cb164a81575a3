/// Numbers distinct texts in the order of their first appearance.
///
/// It keeps pieces, not copies: what they point to must outlive it.
struct TextDictionary {
    private(set) var entries: [Piece] = []
    private var slots: [UInt32]
    private var mask: Int

    /// Room for `capacity` entries without growing.
    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        slots = [UInt32](repeating: 0, count: size)
        mask = size - 1
    }

    var count: Int { entries.count }

    /// The number of a text, which is entered if it is new.
    mutating func id(of piece: Piece) -> Int {
        var at = Int(truncatingIfNeeded: piece.hash) & mask
        while slots[at] != 0 {
            let id = Int(slots[at]) - 1
            if entries[id].isEqual(piece) { return id }
            at = (at + 1) & mask
        }
        entries.append(piece)
        slots[at] = UInt32(truncatingIfNeeded: entries.count)
        if entries.count * 2 > mask { grow() }
        return entries.count - 1
    }

    /// Makes the last entry point to other memory with the same bytes.
    mutating func moveLast(to start: UnsafePointer<UInt8>) {
        entries[entries.count - 1].start = start
    }

    private mutating func grow() {
        mask = mask * 2 + 1
        slots = [UInt32](repeating: 0, count: mask + 1)
        for (id, entry) in entries.enumerated() {
            var at = Int(truncatingIfNeeded: entry.hash) & mask
            while slots[at] != 0 { at = (at + 1) & mask }
            slots[at] = UInt32(truncatingIfNeeded: id + 1)
        }
    }
}
