internal import Basics

/// A column of integers: differences of order 0, 1 or 2, whichever has the least entropy, divided
/// by what they have in common, stored byte plane by byte plane.
///
/// Planes instead of varints: all low bytes together, then all second bytes. The noise stays in
/// the low planes, the high ones are nearly constant, and no bit is spent on saying where a number
/// ends. docs/spool-format.md has the bytes.
///
/// Invariants:
/// 1. Every Int64 survives: all arithmetic wraps, in the encoder as in the decoder.
/// 2. A column of n values has n planes' bytes a byte of width (n - 1 for differences), which the
///    decoder checks before use.
/// 3. Bounds are those of the values; the decoder relies on them only to skip a column.
enum IntegerColumn {
    /// Bits of the form byte.
    enum Form {
        /// 0 constant, 1 values, 2 differences, 3 differences of differences.
        static let order: UInt8 = 0x03
        /// Differences have signs: zigzag.
        static let signed: UInt8 = 0x04
        /// A common divisor follows.
        static let scaled: UInt8 = 0x08
        /// Width in bytes less one, from bit 4.
        static let widthShift: UInt8 = 4
    }

    /// How one order of differences would be stored.
    private struct Plan {
        var order: UInt8 = 0
        var scale: UInt64 = 1
        var isSigned = false
        var width = 1
        var cost = Double.infinity
    }

    /// Appends a column.
    ///
    /// `orders` says which forms may be used: 1 values, 2 differences, 3 differences of those.
    static func encode(
        _ values: UnsafeBufferPointer<Int64>,
        withBounds: Bool,
        orders: ClosedRange<UInt8> = 1...3,
        meta: inout ByteWriter,
        lane: inout Lane
    ) {
        guard let base = values.baseAddress, values.count > 0 else { return }
        let count = values.count
        var least = base[0]
        var greatest = base[0]
        for index in 0..<count {
            least = min(least, base[index])
            greatest = max(greatest, base[index])
        }
        if least == greatest {
            meta.u8(0)
            meta.zigzag(least)
            return
        }
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count * 3) { room in
            guard let rest = room.baseAddress else { return }
            var best = Plan()
            for order in orders {
                let target = rest + (Int(order) - 1) * count
                let plan = prepare(base, count, least, order, limit: best.cost, target)
                if plan.cost < best.cost { best = plan }
            }
            describe(best, base, least, greatest, withBounds, &meta)
            let source = rest + (Int(best.order) - 1) * count
            let written = best.order == 1 ? count : count - 1
            write(source + (count - written), written, best.width, &lane)
        }
    }

    private static func describe(
        _ plan: Plan,
        _ base: UnsafePointer<Int64>,
        _ least: Int64,
        _ greatest: Int64,
        _ withBounds: Bool,
        _ meta: inout ByteWriter
    ) {
        var form = plan.order | UInt8(truncatingIfNeeded: plan.width - 1) << Form.widthShift
        if plan.isSigned { form |= Form.signed }
        if plan.scale > 1 { form |= Form.scaled }
        meta.u8(form)
        if plan.scale > 1 { meta.varint(plan.scale) }
        if plan.order == 1 || withBounds { meta.zigzag(least) }
        if plan.order > 1 { meta.zigzag(withBounds ? base[0] &- least : base[0]) }
        if withBounds { meta.varint(UInt64(bitPattern: greatest &- least)) }
    }

    /// Works out the differences of one order, their divisor, width and cost in bits; a cost of
    /// `limit` or more is infinity.
    private static func prepare(
        _ base: UnsafePointer<Int64>,
        _ count: Int,
        _ least: Int64,
        _ order: UInt8,
        limit: Double,
        _ out: UnsafeMutablePointer<UInt64>
    ) -> Plan {
        var plan = Plan(order: order)
        let from = order == 1 ? 0 : 1
        out[0] = 0
        if order == 1 {
            for index in 0..<count { out[index] = UInt64(bitPattern: base[index] &- least) }
        } else if order == 2 {
            for index in 1..<count {
                out[index] = UInt64(bitPattern: base[index] &- base[index - 1])
            }
        } else {
            var before: Int64 = 0
            for index in 1..<count {
                let step = base[index] &- base[index - 1]
                out[index] = UInt64(bitPattern: step &- before)
                before = step
            }
        }
        if order != 1 {
            var signs: UInt64 = 0
            for index in from..<count { signs |= out[index] }
            plan.isSigned = Int64(bitPattern: signs) < 0
        }
        plan.scale = divisor(out + from, count - from, isSigned: plan.isSigned)
        if plan.scale > 1 { divide(out + from, count - from, plan) }
        var all: UInt64 = 0
        for index in from..<count {
            if plan.isSigned {
                let value = Int64(bitPattern: out[index])
                out[index] = UInt64(bitPattern: (value << 1) ^ (value >> 63))
            }
            all |= out[index]
        }
        plan.width = max(1, (71 - all.leadingZeroBitCount) / 8)
        plan.cost = Entropy.bits(out + from, count - from, width: plan.width, limit: limit)
        return plan
    }

    /// The greatest common divisor of the magnitudes; 1 as soon as there is none.
    private static func divisor(
        _ values: UnsafePointer<UInt64>,
        _ count: Int,
        isSigned: Bool
    ) -> UInt64 {
        var found: UInt64 = 0
        for index in 0..<count {
            var next = values[index]
            if isSigned, Int64(bitPattern: next) < 0 { next = 0 &- next }
            if next == 0 { continue }
            if found != 0, next % found == 0 { continue }
            while next != 0 { (found, next) = (next, found % next) }
            if found == 1 { return 1 }
        }
        return max(1, found)
    }

    private static func divide(
        _ values: UnsafeMutablePointer<UInt64>,
        _ count: Int,
        _ plan: Plan
    ) {
        for index in 0..<count {
            let value = values[index]
            if plan.isSigned, Int64(bitPattern: value) < 0 {
                values[index] = 0 &- ((0 &- value) / plan.scale)
            } else {
                values[index] = value / plan.scale
            }
        }
    }

    private static func write(
        _ values: UnsafePointer<UInt64>,
        _ count: Int,
        _ width: Int,
        _ lane: inout Lane
    ) {
        for plane in 0..<width {
            let shift = UInt64(8 * plane)
            lane.append(count) { out in
                for index in 0..<count {
                    out[index] = UInt8(truncatingIfNeeded: values[index] >> shift)
                }
            }
        }
    }
}
