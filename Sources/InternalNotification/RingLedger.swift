internal import Telemetry

/// Which transfers are still whole in a sender's ring, and where the next one goes.
///
/// Pure.
///
/// 1. Transfers lie one behind the other; the oldest go first.
/// 2. While a collector acknowledges, a transfer goes only after it was taken.
/// 3. At most `Limits.transfersMax` transfers are whole at a time.
struct RingLedger {
    struct Item: Equatable {
        var number: UInt64
        var chunks: Int
        var first: UInt64
    }

    private(set) var items: [Item] = []
    private(set) var head: UInt64 = 0
    private var next = 0
    private var used = 0
    let registers: Int

    init(registers: Int = Limits.ringRegisters) {
        self.registers = registers
    }

    /// Number of the oldest whole transfer; head + 1 if none is.
    var tail: UInt64 { items.first?.number ?? head + 1 }

    /// Makes room for a transfer.
    ///
    /// `taken` nil: nobody acknowledges, the oldest may always go.
    ///
    /// - Returns: number and offset of the new transfer; nil if there is no room yet.
    mutating func place(chunks: Int, first: UInt64, taken: UInt64?) -> (
        number: UInt64, offset: Int
    )? {
        guard chunks <= registers else { return nil }
        var free = registers - used
        var gone = 0
        while free < chunks || items.count - gone >= Limits.transfersMax {
            guard gone < items.count, taken.map({ items[gone].number <= $0 }) ?? true else {
                return nil
            }
            free += items[gone].chunks
            gone += 1
        }
        used = registers - free + chunks
        items.removeFirst(gone)
        head += 1
        let offset = next
        items.append(Item(number: head, chunks: chunks, first: first))
        next = (next + chunks) % registers
        return (head, offset)
    }

    /// How much of the ring, in quarters, does not wait to be taken: of its bytes or of its
    /// transfers, whichever is less.
    func freeQuarters(taken: UInt64) -> Int {
        var (count, chunks) = (0, 0)
        for item in items where item.number > taken {
            count += 1
            chunks += item.chunks
        }
        let free = (Limits.transfersMax - count) * 4 / Limits.transfersMax
        return min(free, (registers - chunks) * 4 / registers)
    }

    /// Forgets all transfers but goes on counting: the ring's bytes are gone.
    ///
    /// - Parameter number: of another ring that this one is to go on from.
    mutating func reset(after number: UInt64 = 0) {
        head = max(head, number)
        items.removeAll()
        used = 0
        next = 0
    }
}
