/// A column of integers as the directory describes it; `IntegerColumn` says how it was made.
struct IntegerNode {
    let count: Int
    /// Bounds of the values, if the description has them.
    private(set) var bounds: ClosedRange<Int64>?
    private var order: UInt8 = 0
    private var isSigned = false
    private var scale: UInt64 = 1
    private var width = 0
    private var first: Int64 = 0
    private var planes = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Reads the description of a column of `count` values, and takes its planes.
    init(
        _ reader: inout LaneReader,
        count: Int,
        lane: LaneReader.Which,
        withBounds: Bool = false
    ) throws(DamagedBatch) {
        self.count = count
        if count == 0 { return }
        let form = try reader.byte()
        order = form & IntegerColumn.Form.order
        if order == 0 {
            guard form == 0 else { throw DamagedBatch(reason: "a form of integers is not known") }
            first = try reader.zigzag()
            bounds = first...first
            return
        }
        guard form < 0x80 else { throw DamagedBatch(reason: "a form of integers is not known") }
        isSigned = form & IntegerColumn.Form.signed != 0
        width = Int(form >> IntegerColumn.Form.widthShift) + 1
        if form & IntegerColumn.Form.scaled != 0 { scale = try reader.varint() }
        let least = order == 1 || withBounds ? try reader.zigzag() : 0
        first = order == 1 ? least : least &+ (try reader.zigzag())
        if withBounds {
            let greatest = least &+ Int64(bitPattern: try reader.varint())
            guard least <= greatest else { throw DamagedBatch(reason: "bounds make no sense") }
            bounds = least...greatest
        }
        let written = order == 1 ? count : count - 1
        let (size, isOver) = written.multipliedReportingOverflow(by: width)
        if isOver { throw .cutOff }
        planes = try reader.take(size, from: lane)
    }

    /// True if all values are one, which then is it.
    var constant: Int64? { order == 0 ? first : nil }

    /// Writes the values to `out`, which has room for `count`.
    func decode(into out: UnsafeMutablePointer<Int64>) {
        if order == 0 {
            out.initialize(repeating: first, count: count)
            return
        }
        let skipped = order == 1 ? 0 : 1
        join(out + skipped, count - skipped)
        unscale(out + skipped, count - skipped)
        switch order {
        case 1:
            for index in 0..<count { out[index] = out[index] &+ first }
        case 2:
            var value = first
            out[0] = value
            for index in 1..<max(1, count) {
                value &+= out[index]
                out[index] = value
            }
        default:
            var value = first
            var step: Int64 = 0
            out[0] = value
            for index in 1..<max(1, count) {
                step &+= out[index]
                value &+= step
                out[index] = value
            }
        }
    }

    /// Puts the bytes of the planes together again.
    private func join(_ out: UnsafeMutablePointer<Int64>, _ count: Int) {
        guard count > 0, let base = planes.bindMemory(to: UInt8.self).baseAddress else { return }
        switch width {
        case 1:
            for index in 0..<count { out[index] = Int64(base[index]) }
        case 2:
            let second = base + count
            for index in 0..<count {
                out[index] = Int64(base[index]) | Int64(second[index]) << 8
            }
        default:
            for index in 0..<count { out[index] = Int64(base[index]) }
            for plane in 1..<width {
                let bytes = base + plane * count
                let shift = Int64(8 * plane)
                for index in 0..<count { out[index] |= Int64(bytes[index]) << shift }
            }
        }
    }

    private func unscale(_ out: UnsafeMutablePointer<Int64>, _ count: Int) {
        if isSigned {
            for index in 0..<count {
                let raw = UInt64(bitPattern: out[index])
                out[index] = Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
            }
        }
        if scale != 1 {
            let factor = Int64(bitPattern: scale)
            for index in 0..<count { out[index] = out[index] &* factor }
        }
    }

    /// The values as numbers from 0 to `limit` - 1; anything else is an error.
    func decodeIDs(_ arena: Arena, limit: Int) throws(DamagedBatch) -> UnsafePointer<Int64> {
        let out = try arena.allocate(Int64.self, max(1, count))
        decode(into: out)
        var isSound = true
        for index in 0..<count where UInt64(bitPattern: out[index]) >= UInt64(limit) {
            isSound = false
        }
        guard isSound else { throw DamagedBatch(reason: "a number of an entry is out of range") }
        return UnsafePointer(out)
    }

    /// The values, in memory of the arena.
    func decode(_ arena: Arena) throws(DamagedBatch) -> UnsafePointer<Int64> {
        let out = try arena.allocate(Int64.self, max(1, count))
        decode(into: out)
        return UnsafePointer(out)
    }
}
